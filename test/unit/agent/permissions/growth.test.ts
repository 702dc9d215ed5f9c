import { describe, expect, test } from "vitest";
import {
  Command,
  commandForms,
  commandMatcher,
} from "../../../../src/agent/permissions/commands/simple-command.ts";
import { expandPattern, optionExpansion } from "../../../../src/agent/permissions/files/patterns.ts";
import { readShellLine } from "../../../../src/agent/permissions/shell-line.ts";
import { decideLine } from "../../../support/attack/corpus.ts";
import { growth, MAX_GROWTH } from "../../../support/timing/growth.ts";

const COMMANDS = { allow: ["Bash"], ask: [], deny: ["Bash(rm:*)", "Bash(a*z y)"] };
const NONE = { allow: [], ask: [], deny: [] };
const FILES = { allow: ["Bash"], ask: [], deny: ["Read(x)", "Edit(**/y)", "Edit(config/**/a*.json)"] };

const numbered = (count: number, text: (i: number) => string): string =>
  Array.from({ length: Math.ceil(count) }, (_, i) => text(i)).join(" ");

/** Lines of any length. No limit ends the search, even with eight times `eighth` characters. */
const LINES: readonly (readonly [what: string, eighth: number, lineOf: (size: number) => string])[] = [
  ["spaces in a quoted script", 4_000, (size) => `sh -c '${" ".repeat(size)}x'`],
  ["braces in a quoted word", 4_000, (size) => `foo '${"{".repeat(size)}"'`],
  ["wrappers", 3_900, (size) => "env ".repeat(size / 4)],
  ["wrappers with values", 4_000, (size) => "env A=b ".repeat(size / 8)],
  ["commands of find", 3_700, (size) => "find . -exec a ".repeat(size / 15)],
  ["keywords in a value", 2_900, (size) => `A='${"do ".repeat(size / 3)}' b`],
  ["programs that write files", 3_900, (size) => `env ${"tee ".repeat(size / 4)}`],
  ["groups of braces", 4_000, (size) => `foo ${"{a,b} ".repeat(size / 6)}`],
  ["alternatives in braces", 4_000, (size) => `foo x{${"a,".repeat(size / 8)}}`],
  ["nested braces", 4_000, (size) => `foo ${`${"{a,".repeat(40)}${"}".repeat(40)} `.repeat(size / 160)}`],
  ["brackets in a word of printf", 4_000, (size) => `printf '${"[".repeat(size)}'`],
  ["digits in a script of sed", 4_000, (size) => `sed '${"1".repeat(size)}' a`],
  ["brackets in a path of a program", 4_000, (size) => `foo '/bin/a${"[".repeat(size)}'`],
  [
    "open braces in a hidden name",
    1_000,
    (size) => `cd a;cd b;cd c; foo .${"{".repeat(size / 2)} .${"{".repeat(size / 2 - 100)}a`,
  ],
  ["names of options for commands", 8_000, (size) => `foo -${"exec".repeat(size / 4)}! $X`],
  ["separators in a word", 2_600, (size) => `foo '${"a, ".repeat(size / 3)}'`],
  ["names and directories", 1_600, (size) => `foo ${numbered(size / 20, (i) => `d${i}/e f${i}`)}`],
  ["names in protected directories", 1_600, (size) => `cp ${numbered(size / 20, (i) => `${i}/.hg g${i}`)}`],
  ["patterns of names", 1_600, (size) => `git x ${numbered(size / 20, (i) => `'m${i}*.to?l'`)}`],
  ["texts that arithmetic evaluates", 700, (size) => `x='${"a[$(b)] ".repeat(size / 8)}'; echo $((x))`],
  ["words after an interpreter", 1_900, (size) => `env ${"python3 ".repeat(40)}${"a b ".repeat(size / 4)}`],
];

/** Lines whose search ends at a limit, after some work on the whole line. */
const ENDED: typeof LINES = [
  ["equals signs in a quoted script", 4_000, (size) => `sh -c '${"=".repeat(size)}'`],
  ["suffixes", 4_000, (size) => `cp ${Array.from({ length: size / 8 }, (_, i) => `-S${i}`).join(" ")}`],
  ["interpreters", 4_000, (size) => `env ${"python3 ".repeat(size / 8)}`],
  ["braces in braces", 4_000, (size) => `foo ${"{a,".repeat(size / 4)}${"}".repeat(size / 4)}`],
];

test.each([...LINES, ...ENDED])(
  "decidePermission › takes time proportional to the length of a line with many %s",
  (_, eighth, lineOf) => {
    const decide = (line: string): void => {
      for (const rules of [COMMANDS, FILES, NONE]) decideLine(line, rules);
    };
    expect(growth(eighth, lineOf, decide)).toBeLessThan(MAX_GROWTH);
  },
);

test.each(LINES)("readShellLine › searches the whole of a line with many %s", (_, eighth, lineOf) => {
  for (const size of [eighth, 8 * eighth])
    expect(readShellLine(lineOf(size)).anywhere.excess).toBeUndefined();
});

test("commandForms › takes time proportional to the number of words of a command with many wrappers", () => {
  const matches = ["a:*", "a*z y", "*a", "env*--force*", "e*-a*--b*n"].map(commandMatcher);
  const compare = (words: readonly string[]): void => {
    for (const command of commandForms(words)) for (const isMatch of matches) isMatch(command);
  };
  for (const word of ["env", "env---"])
    expect(growth(2_000, (size) => ["env", ...Array<string>(size).fill(word)], compare)).toBeLessThan(
      MAX_GROWTH,
    );
});

describe("commandMatcher", () => {
  test.each([
    ["a*b", "a b", true],
    ["a*b", "a c", false],
    ["a*--f*z", "a --f z", true],
    ["a*--f*z", "a --fz", true],
    ["a*--f*z", "a z --f", false],
    ["a*b*c*d", "a b c d", true],
    ["a*b*c*d", "a c b d", false],
    ["a*b b*c", "a b b c", true],
    ["a*b b*c", "a b c", false],
    ["a*x y*", "ax y", true],
    ["a*x y*", "ax z y", false],
    ["a*aa*aa", "aaa", false],
    ["a*aa*aa", "aaaaa", true],
    ["a*a b*b", "aa b", false],
    ["a*a b*b", "aa bb", true],
    ["*b*", "a b", true],
    ["a**b", "a b", true],
    ["ab c*d*e f", "ab cde f", true],
    ["a b c*", "a b", false],
    ["a*verylongend", "a x", false],
    ["a*b c d", "ab c d", true],
    ["a*\\**b", "a * b", true],
    ["a*\\**b", "a c b", false],
  ])("› compares %j with %j", (pattern, text, expected) => {
    const [name = "", ...words] = text.split(" ");
    expect(commandMatcher(pattern)(Command.of([name, ...words]))).toBe(expected);
    // The result is the same at the end of a longer line.
    const last = [...commandForms(["env", "a", "b", "--f", name, ...words])].find(
      (form) => form.name === name && form.wordCount === words.length + 1,
    );
    expect(last === undefined ? expected : commandMatcher(pattern)(last)).toBe(expected);
  });

  test("› agrees with a regular expression", () => {
    const pick = (from: string, at: number) => from.charAt(at % from.length);
    for (let seed = 0; seed < 5_000; seed += 1) {
      let state = seed * 2_654_435_761;
      const next = () => (state = (state * 48_271 + 11) % 2_147_483_647);
      const text = Array.from({ length: 1 + (next() % 7) }, () => pick("ab ab", next())).join("");
      const pattern = Array.from({ length: 1 + (next() % 6) }, () => pick("ab *", next())).join("");
      const words = `x${text}`.trim().split(/\s+/);
      const wanted = `x*${pattern.trim()}`.split(/\s+/).join(" ");
      if (wanted.endsWith(":*")) continue;
      const source = wanted
        .split("*")
        .map((part) => part.replaceAll(" ", "\\s"))
        .join(".*");
      const expected = new RegExp(`^${source}$`).test(words.join(" "));
      expect(commandMatcher(wanted)(Command.of(words)), `${wanted} | ${words.join(" ")}`).toBe(expected);
    }
  });
});

describe("decidePermission", () => {
  test.each([
    ["here-documents", "<<a ".repeat(1_100)],
    ["here-documents in a script of variables", `A='${"<<a ".repeat(600)}'; sh -c "$A$A"`],
    ["shell escapes", "=!".repeat(32_000)],
  ])("› denies a line with too many %s if a deny rule exists, and otherwise asks", (_, line) => {
    expect(decideLine(line, { allow: ["Bash"], ask: [], deny: ["Bash(rm:*)"] }).behavior).toBe("deny");
    expect(decideLine(line, { allow: ["Bash"], ask: ["Bash(rm:*)"], deny: [] }).behavior).toBe("ask");
    expect(decideLine(line, { allow: ["Bash(git:*)"], ask: [], deny: [] }).behavior).toBe("ask");
  });

  test("› still searches a line with a few here-documents and shell escapes", () => {
    const line = `cat ${"<<a ".repeat(20)} && git config alias.a '${"=!".repeat(20)}rm x'`;
    expect(readShellLine(line).anywhere.excess).toBeUndefined();
    expect(decideLine(line, { allow: ["Bash"], ask: [], deny: ["Bash(rm:*)"] }).behavior).toBe("deny");
  });

  test.each([
    ["many names", Array.from({ length: 1_500 }, (_, i) => `f${i}`).join(" ")],
    ["names in braces", `${"{a,b}".repeat(10)} ${"{c,d}".repeat(10)}`],
  ])("› checks every file, or refuses the line, for %s in many directories", (_, names) => {
    const rules = { allow: ["Bash"], ask: [], deny: ["Read(.env)"] };
    for (const enter of ["", "cd a; ", "cd a; cd b; cd c; cd d; "])
      expect(decideLine(`${enter}cat ${names} .env`, rules).behavior).toBe("deny");
  });

  test("› searches the words after the last wrapper of a long line", () => {
    for (const line of [`${"env ".repeat(5_000)}rm x`, `${"sudo -n ".repeat(3_000)}/bin/rm x`]) {
      expect(decideLine(line, { allow: ["Bash"], ask: [], deny: ["Bash(rm x)"] }).behavior).toBe("deny");
      expect(decideLine(line, { allow: ["Bash"], ask: [], deny: ["Bash(r*m x)"] }).behavior).toBe("deny");
      expect(decideLine(line, { allow: ["Bash"], ask: [], deny: ["Bash(rm * x)"] }).behavior).not.toBe(
        "deny",
      );
    }
  });
});

test("optionExpansion › lists each directory once for all words of a line", () => {
  const listed: string[] = [];
  const expandsToOption = optionExpansion(
    () => ["/a", "/b"],
    (directory) => {
      listed.push(directory);
      return ["-x1", "y"];
    },
  );
  const words = ["?x1", "*", "y*", "?y", "-x1"];
  expect(words.map(expandsToOption)).toEqual([true, true, false, false, false]);
  expect(listed).toEqual(["/a", "/b"]);
});

describe("expandPattern", () => {
  test("› takes time proportional to the length of a pattern with many stars", () => {
    const names = ["a".repeat(200)];
    const work = (pattern: string): unknown => expandPattern(pattern, "/", () => names);
    expect(growth(2_000, (size) => `${"*a".repeat(size / 2)}*b`, work)).toBeLessThan(MAX_GROWTH);
    expect(expandPattern(`${"*a".repeat(20)}*b`, "/", () => names)).toEqual([`${"*a".repeat(20)}*b`]);
  });

  test.each([
    ["*", ["a", "-b.c"]],
    ["a*", ["a"]],
    ["?", ["a"]],
    ["*.c", ["-b.c"]],
    ["-?.*", ["-b.c"]],
    ["*b*c", ["-b.c"]],
    [".*", [".h"]],
    [".?", [".h"]],
    ["A", ["A"]],
    ["A*", ["a"]],
    ["*d", ["*d"]],
    ["??*?", ["-b.c"]],
    ["?h", ["?h"]],
  ] as const)("› matches %s like a shell", (pattern, expected) => {
    const found = expandPattern(pattern, "/", () => ["a", "-b.c", ".h"]);
    // The pattern is unclear if a program may take a matching name for an option.
    expect(found).toEqual(expected.some((name) => name.startsWith("-")) ? undefined : expected);
  });
});
