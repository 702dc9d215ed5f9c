import { describe, expect, test } from "vitest";
import { readShellLine } from "../../src/agent/permissions/shell-line.ts";
import { decideLine, readCorpus } from "../support/attack/corpus.ts";
import { growth, MAX_GROWTH } from "../support/timing/growth.ts";

const CORPUS = readCorpus();

const shown = (line: string): string => line.replaceAll("\n", "⏎");

describe.each([...new Set(CORPUS.map(({ file }) => file))])("corpus %s", (file) => {
  test.each(
    CORPUS.filter((one) => one.file === file).map(
      (one) => [one.shell, shown(one.line), one.expect, one] as const,
    ),
  )(
    "decidePermission › in %s, answers %j with %s",
    (_shell, _line, _expected, { line, rules, files, resolve, expect: expected }) => {
      const { behavior, guarded, reason } = decideLine(line, rules, undefined, undefined, resolve, files);
      const isGuarded = behavior === "ask" && guarded === true;
      expect(isGuarded && expected !== "ask" ? "guarded" : behavior, reason).toBe(expected);
    },
  );
});

test("the corpus › has enough lines of each kind and for each shell", () => {
  const count = (is: (one: (typeof CORPUS)[number]) => boolean): number => CORPUS.filter(is).length;
  expect(count(({ expect: expected }) => expected !== "allow")).toBeGreaterThan(400);
  const removing = CORPUS.filter(({ effect }) => effect.startsWith("removes victim"));
  expect(removing.length).toBeGreaterThan(135);
  expect(removing.filter((one) => one.expect !== "deny").map(({ line }) => line)).toEqual([]);
  const isNarrow = ({ rules }: (typeof CORPUS)[number]): boolean => !rules.allow.includes("Bash");
  const isEveryday = (one: (typeof CORPUS)[number]): boolean => one.file === "everyday.txt" && isNarrow(one);
  expect(count((one) => isEveryday(one) && one.expect === "allow")).toBeGreaterThan(200);
  expect(count(({ file }) => file === "denied-rm-options.txt")).toBeGreaterThan(150);
  expect(count(({ file, expect: e }) => file === "reading.txt" && e === "allow")).toBeGreaterThan(120);
  for (const shell of ["bash", "zsh", "dash", "fish"]) {
    expect(count((one) => one.shell === shell)).toBeGreaterThan(8);
  }
});

test.each(["default", "acceptEdits", "plan", "dontAsk", "bypassPermissions"] as const)(
  "decidePermission › denies in mode %s every line of the corpus that a rule denies",
  (mode) => {
    for (const { line, rules, files, resolve, expect: expected } of CORPUS) {
      if (expected !== "deny") continue;
      expect(decideLine(line, rules, undefined, mode, resolve, files).behavior, line).toBe("deny");
    }
  },
);

/** A kind of input, and the input of a size. */
type Sized = readonly [what: string, size: number, lineOf: (size: number) => string];

const numbered = (size: number, text: (i: number) => string): string =>
  Array.from({ length: size }, (_, i) => text(i)).join(" ");

/** Inputs beyond a limit, or that overflow the stack of a parser. */
const HUGE: readonly Sized[] = [
  ["negations", 32_000, (size) => `${"! ".repeat(size)}rm x`],
  ["sudo", 32_000, (size) => `${"sudo ".repeat(size)}rm x`],
  ["sudo within the limit", 7_000, (size) => `${"sudo ".repeat(size)}rm x`],
  ["functions", 16_000, (size) => `${"f() ".repeat(size)}rm x`],
  ["functions within the limit", 7_000, (size) => `${"f() ".repeat(size)}rm x`],
  ["coprocesses", 7_000, (size) => `${"coproc ".repeat(size)}rm x`],
  ["subshells", 60_000, (size) => "(".repeat(size)],
  ["substitutions", 32_000, (size) => "$(".repeat(size)],
  ["2,000 substitutions", 2_000, (size) => `${"$(".repeat(size)}rm x${")".repeat(size)}`],
  ["quoted scripts", 5_000, (size) => "sh -c 'rm' ".repeat(size)],
  ["here-documents", 16_000, (size) => "<<a ".repeat(size)],
  ["redirections", 8_096, (size) => numbered(size, (i) => `>a${i}`)],
  ["a long script", 30_000, (size) => `python3 -c '${"a(".repeat(size)}'`],
  ["quotes in a script", 30_000, (size) => `awk '${'"\\'.repeat(size)}'`],
  ["backticks", 60_000, (size) => "`".repeat(size)],
  ["spaces", 70_000, (size) => `rm${" ".repeat(size)}x`],
];

test.each(HUGE)(
  "decidePermission › denies a line of too many %s if a deny rule exists",
  (_, size, lineOf) => {
    const line = lineOf(size);
    for (const deny of [["Bash(rm:*)"], ["Bash(foo*bar)", "Bash(rm:*)"]])
      expect(decideLine(line, { allow: ["Bash"], ask: [], deny }).behavior).toBe("deny");
    expect(decideLine(line, { allow: ["Bash(git:*)"], ask: [], deny: [] }).behavior).not.toBe("allow");
  },
);

/**
 * Inputs that are slow for a careless parser, or a careless search for names, patterns and code. The size is an eighth of the largest
 * tried size, which is below every limit.
 */
const LARGE: readonly Sized[] = [
  ["negations", 980, (size) => `${"! ".repeat(size)}rm x`],
  ["sudo", 980, (size) => `${"sudo ".repeat(size)}rm x`],
  ["subshells", 250, (size) => `${"(".repeat(10)}a${")".repeat(10)}; `.repeat(size)],
  ["nested substitutions", 4, (size) => `foo ${`${"$(".repeat(50)}a${")".repeat(50)} `.repeat(size)}`],
  ["lines of a here-document", 980, (size) => `cat <<a\n${"b{c\n".repeat(size)}a`],
  ["here-documents", 120, (size) => `foo ${"<<a ".repeat(size)}`],
  ["redirections", 60, (size) => `foo ${numbered(size, (i) => `>a${i}`)}`],
  ["calls in a script", 2_500, (size) => `python3 -c '${"a()".repeat(size)}'`],
  ["quotes in a script", 3_750, (size) => `awk '${'"\\'.repeat(size)}'`],
  ["backticks", 7_500, (size) => "`".repeat(size)],
  ["spaces", 8_000, (size) => `rm${" ".repeat(size)}x`],
  ["wrappers", 437, (size) => `${"nice ".repeat(size)}echo a`],
  ["time limits", 218, (size) => `${"timeout 5 ".repeat(size)}cat a`],
  ["names", 875, (size) => `foo ${numbered(size, (i) => `a${i}`)}`],
  ["letters of options", 500, (size) => `foo ${"-eeeeeeeeeeeeee ".repeat(size)}`],
  ["patterns", 980, (size) => `foo '${"/b*/a? ".repeat(size)}'`],
  ["slashes", 2_000, (size) => `foo '${"/a//".repeat(size)}'`],
  ["braces", 1_500, (size) => `foo '${"{a,b}".repeat(size)}'`],
  ["pipes", 237, (size) => "echo a | ".repeat(size).concat("foo a")],
  ["substitutions side by side", 237, (size) => `foo ${"$(echo a) ".repeat(size)}`],
  ["values", 237, (size) => `${numbered(size, (i) => `A${i}=$(echo a)`)} foo`],
  ["commands of sed", 37, (size) => `sed '${"s/[a/]b/c/;".repeat(size)}' a`],
  ["parts of awk", 50, (size) => `awk '{ ${"print $1;".repeat(size)} }' a`],
  ["moves", 875, (size) => `sudo ${"mv ".repeat(size)}a`],
  ["copied directories", 437, (size) => `sudo ${"cp -r ".repeat(size)}a`],
  ["links", 225, (size) => "ln -s a b; ".repeat(size)],
  ["commands of git", 225, (size) => `cd a; ${"git log; ".repeat(size)}`],
  ["pushes", 225, (size) => "git push x; ".repeat(size)],
  ["links in redirections", 60, (size) => numbered(size, (i) => `mv a${i} b >c${i};`)],
  ["parents", 112, (size) => `foo ${numbered(size, (i) => `a${i}/../b`)}`],
  ["unknown directories", 112, (size) => `cat ${numbered(size, (i) => `$X/a${i}`)}`],
  ["searched names", 437, (size) => `find . ${"-name a ".repeat(size)} | xargs cat`],
  ["variables", 875, (size) => `${"CI=1 ".repeat(size)}foo`],
  ["brackets of Node", 250, (size) => `node -e '${"a[".repeat(size)}'`],
];

/** Rules that cover each command of such a line, so that all of its parts are checked. */
const NARROW = "git ln mv cat echo foo find xargs cd sudo".split(" ").map((name) => `Bash(${name}:*)`);

test.each(LARGE)("decidePermission › takes no quadratic time for a line of many %s", (_, eighth, lineOf) => {
  const many = Array.from({ length: 300 }, (_, i) => `Bash(a*z${i} y)`);
  const decide = (line: string) => {
    for (const deny of [["Bash(rm:*)", "Bash(a* z)"], many])
      decideLine(line, { allow: ["Bash"], ask: [], deny });
    decideLine(line, { allow: [], ask: [], deny: [] });
    decideLine(line, { allow: ["Bash"], ask: [], deny: ["Edit(a/b.json)", "Read(c/*.pem)"] });
    decideLine(line, { allow: NARROW, ask: [], deny: ["Read(.env)"] });
  };
  for (const size of [eighth, 8 * eighth])
    expect(readShellLine(lineOf(size)).anywhere.excess).toBeUndefined();
  expect(growth(eighth, lineOf, decide)).toBeLessThan(MAX_GROWTH);
});

test.each([
  "cp a/cfg out",
  "cp a/cfg b out/",
  "cp -t out a/cfg",
  "cp --target-directory=out a/cfg",
  "sudo cp a/cfg out",
])("decidePermission › follows a link in the directory that %j copies into", (line) => {
  const resolve = (path: string): string => (path === "/srv/ada/project/out/cfg" ? "/srv/ada/.bashrc" : path);
  const rules = { allow: ["Bash"], ask: [], deny: [] };
  expect(decideLine(line, rules, "/srv/ada/project", "default", resolve)).toMatchObject({ guarded: true });
  expect(decideLine(line, rules).behavior).toBe("allow");
});
