import { describe, expect, test } from "vitest";
import { decidePermission } from "../../../../src/agent/permissions/decide.ts";
import { NO_RULES } from "../../../../src/agent/permissions/rules.ts";
import { readShellLine } from "../../../../src/agent/permissions/shell-line.ts";

const WORK = "/srv/ada/project";
const LINK = "file-link.ts";

const DENY_ENV = {
  mode: "bypassPermissions",
  rules: { ...NO_RULES, deny: ["Read(.env)", "Edit(.env)"] },
} as const;
const ALLOW_TOUCH = { mode: "default", rules: { ...NO_RULES, allow: ["Bash(touch:*)"] } } as const;

/** Decides a line in a directory with these names. The link leads to `target`. */
function decided(
  command: string,
  names: readonly string[],
  target = `${WORK}/.env`,
  rights: typeof DENY_ENV | typeof ALLOW_TOUCH = DENY_ENV,
) {
  return decidePermission({
    ...{ ...rights, tool: "Bash", access: { kind: "command", command }, line: readShellLine(command) },
    ...{ workingDirs: [WORK], home: "/srv/ada" },
    resolve: (path) => (path === `${WORK}/${LINK}` ? target : path),
    list: () => names,
  });
}

const files = (count: number): string[] => Array.from({ length: count }, (_, n) => `file-${n}.ts`);

describe("a deny rule for the target of a link", () => {
  test.each([
    ["among 1,000 matches", "cat *", files(1_000)],
    ["among 11,000 matches", "cat *", files(11_000)],
    ["among 101,000 entries", "cat file-l*", files(101_000)],
    ["next to a name that is an array index with a command", "cat *", ["a[$(id)]"]],
    ["when a line changes 1,000 matches", "sed -i s/a/b/ *", files(1_000)],
    ["when a line changes 11,000 matches", "sed -i s/a/b/ *", files(11_000)],
    ["as one of 101 patterns", `cat file-l* ${files(100).join("* ")}*`, []],
  ])("applies to a pattern that matches the link %s", (_, line, names) => {
    expect(decided(line, [...names, LINK]).behavior).toBe("deny");
  });

  test("does not apply to a pattern with 9,000 matches and no such link", () => {
    expect(decided("cat *", [...files(9_000), LINK], `${WORK}/file-1.ts`).behavior).toBe("allow");
  });
});

describe("a protected file as the target of a link", () => {
  const change = (line: string, names: readonly string[], target: string) =>
    decided(line, [...names, LINK], target, ALLOW_TOUCH);

  test.each([
    ["among 1,000 matches", files(1_000)],
    ["among 11,000 matches", files(11_000)],
  ])("asks before a change by a pattern that matches the link %s", (_, names) => {
    expect(change("touch file-*.ts", names, "/srv/ada/.bashrc").behavior).toBe("ask");
  });

  test("does not ask before a change by a pattern with 9,000 matches and no such link", () => {
    expect(change("touch file-*.ts", files(9_000), `${WORK}/file-1.ts`).behavior).toBe("allow");
  });
});
