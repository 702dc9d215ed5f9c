import { describe, expect, test } from "vitest";
import { decidePermission } from "../../../../src/agent/permissions/decide.ts";
import { expandPattern, optionExpansion } from "../../../../src/agent/permissions/files/patterns.ts";
import { NO_RULES } from "../../../../src/agent/permissions/rules.ts";
import { readShellLine } from "../../../../src/agent/permissions/shell-line.ts";
import { decideLine } from "../../../support/attack/corpus.ts";

const WORK = "/srv/ada/project";

/** Names whose number of characters depends on the reader: composed, decomposed, folded, as bytes. */
const NAMES = [
  ["e\u0301vil", ["e*", "??vil", "?vil", "???vil", "*vil", "e?vil", "E*"]],
  ["\u00e9vil", ["?vil", "??vil", "*vil", "e*"]],
  ["e\u0301x", ["??x", "?x", "e?x"]],
  ["stra\u00dfe", ["stra?e", "stra??e", "str*e"]],
  ["\u{1f600}.c", ["?.c", "??.c", "????.c", "*.c"]],
] as const;

describe.each(NAMES)("the file name %j", (name, patterns) => {
  test.each(patterns)("expandPattern › matches it with %s, however a shell counts characters", (pattern) => {
    expect(expandPattern(pattern, "/", () => [name])).toEqual([name]);
  });

  test("expandPattern › does not match it with a pattern of other letters", () => {
    for (const pattern of ["x*", "*z", "a?b"])
      expect(expandPattern(pattern, "/", () => [name])).toEqual([pattern]);
  });

  test("decidePermission › asks before a read through a link of this name", () => {
    for (const pattern of patterns) {
      const command = `cat ${pattern}`;
      const { behavior } = decidePermission({
        ...{ mode: "default", tool: "Bash", access: { kind: "command", command } },
        ...{ line: readShellLine(command), rules: NO_RULES, workingDirs: [WORK], home: "/srv/ada" },
        resolve: (path) => (path === `${WORK}/${name}` ? "/srv/.ssh/id" : path),
        list: () => [name],
      });
      expect(behavior, command).toBe("ask");
    }
  });
});

test("optionExpansion › finds an option with letters beyond ASCII", () => {
  const expandsToOption = optionExpansion(
    () => ["/a"],
    () => ["-e\u0301x"],
  );
  expect(["-e*", "?e*", "-??", "-???", "??x"].map(expandsToOption)).toEqual([true, true, true, true, true]);
  expect(["a*", "?z*"].map(expandsToOption)).toEqual([false, false]);
});

test.each([
  ["e\u0301vil", "cat e*"],
  ["\u00e9vil", "cat e*"],
  ["e\u0301vil", "cat ??vil"],
  ["stra\u00dfe", "cat stra?e"],
  ["\u{1f600}.c", "cat ????.c"],
])("decidePermission › applies a deny rule for %j to the pattern in %s", (name, line) => {
  const rules = { ...NO_RULES, allow: ["Bash"], deny: [`Read(${name})`] };
  expect(decideLine(line, rules).behavior).toBe("deny");
  expect(decideLine("cat x*", rules).behavior).toBe("allow");
});
