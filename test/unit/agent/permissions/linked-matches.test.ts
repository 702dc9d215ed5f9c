import { describe, expect, test } from "vitest";
import { decidePermission } from "../../../../src/agent/permissions/decide.ts";
import { NO_RULES } from "../../../../src/agent/permissions/rules.ts";
import { readShellLine } from "../../../../src/agent/permissions/shell-line.ts";

const WORK = "/srv/ada/project";
const LINK = "z-link";

/** Decides a line in a directory with these names. Rules deny `.env`, and the link leads to `target`. */
function decided(command: string, names: readonly string[], target = `${WORK}/.env`) {
  return decidePermission({
    ...{ mode: "bypassPermissions", tool: "Bash", access: { kind: "command", command } },
    ...{ line: readShellLine(command), rules: { ...NO_RULES, deny: ["Read(.env)", "Edit(.env)"] } },
    ...{ workingDirs: [WORK], home: "/srv/ada" },
    resolve: (path) => (path === `${WORK}/${LINK}` ? target : path),
    list: () => names,
  });
}

const files = (count: number): string[] => Array.from({ length: count }, (_, n) => `f${n}`);

describe("a deny rule for the target of a link", () => {
  test.each([
    ["among 1,000 matches", "cat *", files(1_000)],
    ["among 3,000 matches", "cat *", files(3_000)],
    ["among 6,000 entries", "cat z*", files(6_000)],
    ["next to a name that is an array index with a command", "cat *", ["a[$(id)]"]],
    ["when a line changes 1,000 matches", "sed -i s/a/b/ *", files(1_000)],
    ["when a line changes 3,000 matches", "sed -i s/a/b/ *", files(3_000)],
    ["as one of 101 patterns", `cat z* ${files(100).join("* ")}*`, []],
  ])("applies to a pattern that matches the link %s", (_, line, names) => {
    expect(decided(line, [...names, LINK]).behavior).toBe("deny");
  });

  test("does not apply to a pattern with 1,000 matches and no such link", () => {
    expect(decided("cat *", [...files(1_000), LINK], `${WORK}/f1`).behavior).toBe("allow");
  });
});
