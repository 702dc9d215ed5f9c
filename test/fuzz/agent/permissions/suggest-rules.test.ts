import { normalize } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { decidePermission } from "../../../../src/agent/permissions/decide.ts";
import type { PermissionDecision } from "../../../../src/agent/permissions/question.ts";
import { NO_RULES } from "../../../../src/agent/permissions/rules.ts";
import { readShellLine } from "../../../../src/agent/permissions/shell-line.ts";
import { suggestRules } from "../../../../src/agent/permissions/suggest-rules.ts";
import type { ToolAccess } from "../../../../src/agent/tool.ts";
import { webFetchTool } from "../../../../src/agent/tools/web-fetch.ts";
import { cases } from "../../../support/random/arbitraries.ts";

const WORK = "/home/ada/project";

interface Call {
  readonly tool: string;
  readonly access: ToolAccess;
}

const questionOf = ({ tool, access }: Call) => ({
  mode: "default" as const,
  tool,
  access,
  line: access.kind === "command" ? readShellLine(access.command) : undefined,
  workingDirs: [WORK, "/srv/more"],
  home: "/home/ada",
  resolve: (path: string) => normalize(path),
});

function decided(call: Call, allow: readonly string[]): PermissionDecision {
  return decidePermission({ ...questionOf(call), rules: { ...NO_RULES, allow } });
}

const name = fc
  .oneof(
    fc.string({ minLength: 1, maxLength: 6 }),
    fc.string({ unit: "grapheme", minLength: 1, maxLength: 4 }),
    fc.constantFrom("*", "**", "a b", "(x)", "[ab]", "{a,b}", "!x", "~", "#", "a:*", "domain:*", "a\\", " "),
  )
  .filter((text) => !/[/\0\n]|^\.+$/.test(text));
const path = fc
  .tuple(
    fc.constantFrom(WORK, "/srv/more", "/srv", "/home/ada", "/"),
    fc.array(name, { minLength: 1, maxLength: 3 }),
  )
  .map(([top, names]) => `${top === "/" ? "" : top}/${names.join("/")}`);

const quoted = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;
const word = fc.oneof(
  name.map(quoted),
  path.map(quoted),
  fc.constantFrom(
    "git",
    "-m",
    "--all",
    "*.ts",
    "x:*",
    '"a b"',
    "a\\ b",
    "''",
    "$HOME",
    "$(id)",
    "~/x",
    "a=b",
    "[1]",
  ),
);
const redirection = fc
  .tuple(
    fc.constantFrom(">", ">>", "<", "2>", "&>", ">|"),
    fc.oneof(path.map(quoted), fc.constantFrom("out", "../up", "~/notes", "/dev/null")),
  )
  .map(([operator, target]) => `${operator} ${target}`);
const simple = fc
  .tuple(
    fc.constantFrom("git", "npm", "ls", "./run", "sed"),
    fc.array(word, { maxLength: 3 }),
    fc.array(redirection, { maxLength: 2 }),
  )
  .map(([program, words, files]) => [program, ...words, ...files].join(" "));
const line = fc
  .tuple(
    simple,
    fc.array(fc.tuple(fc.constantFrom(" && ", " | ", "; ", " || ", "\n", " & "), simple), { maxLength: 2 }),
  )
  .map(([first, rest]) => first + rest.map(([operator, next]) => operator + next).join(""));

const host = fc.oneof(
  fc.domain(),
  fc.ipV4(),
  fc.ipV6().map((address) => `[${address}]`),
  fc.constantFrom("localhost", "*", "*.example.org", "bücher.example", "EXAMPLE.org.", "a(b)", "a!b", "x_y"),
);
const url = host.map((named) => `https://${named}/page`).filter((text) => URL.canParse(text));
const access = (address: string): ToolAccess =>
  webFetchTool.access(webFetchTool.input.parse({ url: address }), { cwd: WORK, env: {} });

const call: fc.Arbitrary<Call> = fc.oneof(
  line.map((command) => ({ tool: "Bash", access: { kind: "command" as const, command } })),
  fc
    .array(path, { minLength: 1, maxLength: 2 })
    .map((paths) => ({ tool: "Read", access: { kind: "read" as const, paths } })),
  path.map((file) => ({ tool: "Write", access: { kind: "write" as const, paths: [file] } })),
  url.map((address) => ({ tool: "WebFetch", access: access(address) })),
  fc.constant({ tool: "mcp__docs__find", access: { kind: "external" as const } }),
);

test("suggested rules › allow their own call, whatever the command, path or address", () => {
  let allowed = 0;
  fc.assert(
    fc.property(call, (one) => {
      // A guarded call gets no suggestion, because no rule can allow it.
      fc.pre(decided(one, []).guarded !== true);
      const rules = suggestRules(questionOf(one));
      fc.pre(rules.length > 0);
      expect(decided(one, rules).behavior).toBe("allow");
      allowed += 1;
    }),
    cases(1500),
  );
  expect(allowed).toBeGreaterThan(100);
});

test("suggested rules › allow no other host, whatever the address", () => {
  fc.assert(
    fc.property(url, url, (own, other) => {
      const calls = [own, other].map((address): Call => ({ tool: "WebFetch", access: access(address) }));
      const [first, second] = calls as [Call, Call];
      fc.pre(JSON.stringify(first) !== JSON.stringify(second));
      expect(decided(second, suggestRules(questionOf(first))).behavior).toBe("ask");
    }),
    cases(1000),
  );
});
