import { describe, expect, test } from "vitest";
import { decidePermission } from "../../../../src/agent/permissions/decide.ts";
import type { PermissionQuestion } from "../../../../src/agent/permissions/question.ts";
import { NO_RULES, type PermissionRules } from "../../../../src/agent/permissions/rules.ts";
import { readShellLine } from "../../../../src/agent/permissions/shell-line.ts";

const WORK = "/srv/ada/project";

/** Decides a line, by default if a rule allows all of Bash and none denies anything. */
function decide(
  command: string,
  rules: Partial<PermissionRules> = {},
  more: Partial<PermissionQuestion> = {},
) {
  return decidePermission({
    mode: "default",
    tool: "Bash",
    access: { kind: "command", command },
    line: readShellLine(command),
    rules: { ...NO_RULES, allow: ["Bash"], ...rules },
    workingDirs: [WORK],
    home: "/srv/ada",
    resolve: (path) => path,
    exists: () => false,
    isPlain: () => true,
    gitDirs: () => [],
    list: () => [],
    ...more,
  });
}

const guarded = { behavior: "ask", guarded: true };
const denied = { behavior: "deny" };

/** Lines that no limit lets the parser read whole, each with a command after the limit. */
const NOT_READ: readonly (readonly [what: string, lineOf: (last: string) => string])[] = [
  ["shell escapes", (last) => `echo '${"=!".repeat(101)}'; ${last}`],
  ["here-documents in a quoted script", (last) => `sh -c '${"<<a ".repeat(1_001)}'; ${last}`],
  ["shifts in arithmetic", (last) => `echo ${"$((1<<1))".repeat(1_001)}; ${last}`],
  ["characters", (last) => `echo ${"x".repeat(65_536)}; ${last}`],
  ["parentheses", (last) => `echo '${"(".repeat(301)}'; ${last}`],
  ["words", (last) => `echo ${"x ".repeat(8_001)}; ${last}`],
  ["commands", (last) => `${"true;".repeat(2_001)} ${last}`],
  ["quoted scripts", (last) => `${"sh -c 'echo a';".repeat(31)} ${last}`],
];

describe.each(NOT_READ)("decidePermission › a line of too many %s", (_, lineOf) => {
  test("› asks before a change of a protected file, whatever rule allows it", () => {
    for (const last of ["echo x > .git/hooks/pre-commit", "cp x .git/hooks/pre-commit"]) {
      expect(decide(lineOf(last))).toMatchObject(guarded);
      expect(decide(lineOf(last), { allow: ["Bash(*)"] })).toMatchObject(guarded);
    }
  });

  test("› asks before a change of a reserved file, and before a command that only reads", () => {
    const reservedBy = (path: string) => (path === `${WORK}/r.ts` ? "r.ts is reserved." : undefined);
    expect(decide(lineOf("tee r.ts"), {}, { reservedBy })).toMatchObject(guarded);
    expect(decide(lineOf("cat a"), { allow: [] })).toMatchObject(guarded);
  });

  test("› is denied if a deny rule or `writes` exist, in every mode", () => {
    for (const mode of ["default", "bypassPermissions"] as const) {
      expect(decide(lineOf("rm x"), { deny: ["Bash(rm:*)"] }, { mode })).toMatchObject(denied);
      expect(decide(lineOf("cat .env"), { deny: ["Read(.env)"] }, { mode })).toMatchObject(denied);
      expect(decide(lineOf("tee x"), {}, { mode, writes: ["**"] })).toMatchObject(denied);
    }
    expect(decide(lineOf("true"), {}, { mode: "bypassPermissions" })).toMatchObject({ behavior: "allow" });
  });
});

test("decidePermission › checks the files of every program that may write, however many wrap them", () => {
  const reservedBy = (path: string) => (path === `${WORK}/src/r.ts` ? "r.ts is reserved." : undefined);
  for (const count of [3, 41, 1_000])
    expect(decide(`env ${"tee ".repeat(count)}src/r.ts`, {}, { reservedBy })).toMatchObject(guarded);
});
