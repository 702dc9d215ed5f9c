import fc from "fast-check";
import { expect, test } from "vitest";
import { applyHook, decidePermission } from "../../../../src/agent/permissions/decide.ts";
import type { PermissionQuestion } from "../../../../src/agent/permissions/question.ts";
import type { PermissionRules } from "../../../../src/agent/permissions/rules.ts";
import { readShellLine } from "../../../../src/agent/permissions/shell-line.ts";
import type { ToolAccess } from "../../../../src/agent/tool.ts";
import { PERMISSION_MODES } from "../../../../src/schema/permission-modes.ts";
import { cases } from "../../../support/random/arbitraries.ts";

const WORK = "/home/ada/project";
const path = fc.constantFrom(
  `${WORK}/a.ts`,
  `${WORK}/.env`,
  `${WORK}/.git/hooks/x`,
  `${WORK}/docs/b.md`,
  "/etc/passwd",
  "/home/ada/.bashrc",
  "/home/ada/.claude/plans/p.md",
);
const paths = fc.array(path, { minLength: 1, maxLength: 2 });
const command = fc.constantFrom(
  "git log",
  "git log && npm test",
  "git log > out",
  "git log > ~/.bashrc",
  "git log $(id)",
  "rm -r x",
  "npm test",
);

const call: fc.Arbitrary<{ readonly tool: string; readonly access: ToolAccess }> = fc.oneof(
  paths.map((all) => ({ tool: "Read", access: { kind: "read" as const, paths: all } })),
  paths.map((all) => ({ tool: "Write", access: { kind: "write" as const, paths: all } })),
  command.map((line) => ({ tool: "Bash", access: { kind: "command" as const, command: line } })),
  fc.constant({ tool: "SendMessage", access: { kind: "team" as const } }),
  fc.constant({ tool: "mcp__docs__find", access: { kind: "external" as const } }),
);

const rule = fc.constantFrom(
  ...[
    "Bash",
    "Bash(git:*)",
    "Bash(git log)",
    "Bash(npm test)",
    "Bash(rm:*)",
    "Bash(*x)",
    "Read",
    "Read(.env)",
  ],
  ...[
    "Read(//etc/**)",
    "Edit",
    "Edit(docs/**)",
    "Write(**)",
    "Edit(~/**)",
    "SendMessage",
    "mcp__docs__*",
    "(",
    "",
  ],
);
const rules = fc.record({
  allow: fc.array(rule, { maxLength: 3 }),
  ask: fc.array(rule, { maxLength: 2 }),
  deny: fc.array(rule, { maxLength: 2 }),
});
const mode = fc.constantFrom(...PERMISSION_MODES);
const question = fc.record({ call, rules, mode, coordinator: fc.boolean() }).map(
  ({ call: { tool, access }, ...rest }): PermissionQuestion => ({
    ...rest,
    tool,
    access,
    line: access.kind === "command" ? readShellLine(access.command) : undefined,
    workingDirs: [WORK],
    planFile: "/home/ada/.claude/plans/p.md",
    protectedDirs: ["/home/ada/.claude"],
    home: "/home/ada",
    resolve: (name) => name,
  }),
);

const STRICTNESS = { allow: 0, ask: 1, deny: 2 };
const strictness = (asked: PermissionQuestion): number => STRICTNESS[decidePermission(asked).behavior];
const withRules = (asked: PermissionQuestion, more: Partial<PermissionRules>): PermissionQuestion => ({
  ...asked,
  rules: {
    allow: [...asked.rules.allow, ...(more.allow ?? [])],
    ask: [...asked.rules.ask, ...(more.ask ?? [])],
    deny: [...asked.rules.deny, ...(more.deny ?? [])],
  },
});

test("decidePermission: a deny or ask rule never makes an answer milder, an allow rule never stricter", () => {
  fc.assert(
    fc.property(question, rule, (asked, one) => {
      expect(strictness(withRules(asked, { deny: [one] }))).toBeGreaterThanOrEqual(strictness(asked));
      expect(strictness(withRules(asked, { allow: [one] }))).toBeLessThanOrEqual(strictness(asked));
      const answers = { ...asked, mode: asked.mode === "dontAsk" ? ("default" as const) : asked.mode };
      expect(strictness(withRules(answers, { ask: [one] }))).toBeGreaterThanOrEqual(strictness(answers));
    }),
    cases(2_000),
  );
});

test("decidePermission: a call denied in bypassPermissions is denied in every mode", () => {
  fc.assert(
    fc.property(question, (asked) => {
      if (decidePermission({ ...asked, mode: "bypassPermissions" }).behavior !== "deny") return;
      expect(decidePermission(asked).behavior).toBe("deny");
    }),
    cases(2_000),
  );
});

test("decidePermission: the modes are ordered by strictness", () => {
  fc.assert(
    fc.property(question, (asked) => {
      const by = Object.fromEntries(
        PERMISSION_MODES.map((one) => [one, strictness({ ...asked, mode: one })]),
      );
      expect(by.bypassPermissions).toBeLessThanOrEqual(by.acceptEdits ?? 0);
      expect(by.acceptEdits).toBeLessThanOrEqual(by.default ?? 0);
      expect(by.default).toBeLessThanOrEqual(by.dontAsk ?? 0);
      expect(by.dontAsk).not.toBe(1);
      if (!asked.coordinator) expect(by.delegate).toBe(by.default);
    }),
    cases(2_000),
  );
});

test("decidePermission: a write to a protected file never runs unasked except in bypassPermissions or plan mode", () => {
  const guarded = /^\/home\/ada\/(\.bashrc|\.claude\/|project\/\.git\/)/;
  fc.assert(
    fc.property(question, (asked) => {
      const { access } = asked;
      const touched =
        access.kind === "write"
          ? access.paths
          : (asked.line?.files ?? []).flatMap(({ kind, path: file }) =>
              kind === "write" ? [file.replace(/^~/, "/home/ada")] : [],
            );
      fc.pre(touched.some((one) => guarded.test(one)));
      fc.pre(asked.mode !== "bypassPermissions" && asked.mode !== "plan");
      const hooked = applyHook(decidePermission(asked), { behavior: "allow", reason: "" }, asked.mode);
      expect(hooked.behavior).not.toBe("allow");
    }),
    cases(1_000),
  );
});
