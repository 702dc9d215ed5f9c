import { describe, expect, test } from "vitest";
import { decideLine, readCorpus } from "../support/attack/corpus.ts";
import { processorMs } from "../support/timing/processor-time.ts";

const CORPUS = readCorpus();

const shown = (line: string): string => line.replaceAll("\n", "⏎");

describe.each([...new Set(CORPUS.map(({ file }) => file))])("corpus %s", (file) => {
  test.each(
    CORPUS.filter((one) => one.file === file).map(
      (one) => [one.shell, shown(one.line), one.expect, one] as const,
    ),
  )(
    "decidePermission › in %s, answers %j with %s",
    (_shell, _line, _expected, { line, rules, expect: expected }) => {
      const { behavior, guarded, reason } = decideLine(line, rules);
      const isGuarded = behavior === "ask" && guarded === true;
      expect(isGuarded && expected !== "ask" ? "guarded" : behavior, reason).toBe(expected);
    },
  );
});

test("the corpus › has enough lines of each kind and for each shell", () => {
  const count = (is: (one: (typeof CORPUS)[number]) => boolean): number => CORPUS.filter(is).length;
  expect(count(({ expect: expected }) => expected !== "allow")).toBeGreaterThan(400);
  expect(count(({ effect }) => effect === "removes victim")).toBeGreaterThan(135);
  expect(count(({ file }) => file === "everyday.txt")).toBeGreaterThan(200);
  expect(count(({ file }) => file === "denied-rm-options.txt")).toBeGreaterThan(150);
  expect(count(({ file, expect: e }) => file === "reading.txt" && e === "allow")).toBeGreaterThan(120);
  for (const shell of ["bash", "zsh", "dash", "fish"]) {
    expect(count((one) => one.shell === shell)).toBeGreaterThan(8);
  }
});

test.each(["default", "acceptEdits", "plan", "dontAsk", "bypassPermissions"] as const)(
  "the corpus › is refused in no other way than by a denial if a rule denies it, in mode %s",
  (mode) => {
    for (const { line, rules, expect: expected } of CORPUS) {
      if (expected === "deny") expect(decideLine(line, rules, undefined, mode).behavior, line).toBe("deny");
    }
  },
);

/** Inputs that overflow the stack of a parser, or take quadratic time in a careless one. */
const HUGE: readonly (readonly [string, string])[] = [
  ["negations", `${"! ".repeat(32_000)}rm x`],
  ["sudo", `${"sudo ".repeat(32_000)}rm x`],
  ["sudo within the limit", `${"sudo ".repeat(12_000)}rm x`],
  ["functions", `${"f() ".repeat(16_000)}rm x`],
  ["coprocesses", `${"coproc ".repeat(9_000)}rm x`],
  ["subshells", "(".repeat(60_000)],
  ["substitutions", "$(".repeat(32_000)],
  ["2,000 substitutions", `${"$(".repeat(2_000)}rm x${")".repeat(2_000)}`],
  ["quoted scripts", "sh -c 'rm' ".repeat(5_000)],
  ["here-documents", "<<a ".repeat(16_000)],
  ["redirections", Array.from({ length: 8_100 }, (_, i) => `>a${i}`).join(" ")],
  ["a long script", `python3 -c '${"a(".repeat(30_000)}'`],
  ["quotes in a script", `awk '${'"\\'.repeat(30_000)}'`],
  ["backticks", "`".repeat(60_000)],
  ["blanks of a length above the limit", `rm${" ".repeat(70_000)}x`],
];

test.each(HUGE)(
  "decidePermission › denies a line of too many %s quickly if a deny rule exists",
  (_, line) => {
    const spentMs = processorMs(() => {
      for (const deny of [["Bash(rm:*)"], ["Bash(foo*bar)", "Bash(rm:*)"]]) {
        expect(decideLine(line, { allow: ["Bash"], ask: [], deny }).behavior).toBe("deny");
      }
      expect(decideLine(line, { allow: ["Bash(git:*)"], ask: [], deny: [] }).behavior).not.toBe("allow");
    });
    expect(spentMs).toBeLessThan(60_000);
  },
);

/** Inputs that are slow for a careless search for names, patterns and code. */
const LARGE: readonly (readonly [string, string])[] = [
  ["wrappers", `${"nice ".repeat(3_500)}echo a`],
  ["limits of time", `${"timeout 5 ".repeat(1_750)}cat a`],
  ["names", `foo ${Array.from({ length: 7_000 }, (_, i) => `a${i}`).join(" ")}`],
  ["letters of options", `foo ${"-eeeeeeeeeeeeee ".repeat(4_000)}`],
  ["patterns", `foo '${"/b*/a? ".repeat(9_000)}'`],
  ["slashes", `foo '${"/a//".repeat(16_000)}'`],
  ["braces", `foo '${"{a,b}".repeat(12_000)}'`],
  ["pipes", "echo a | ".repeat(1_900).concat("foo a")],
  ["substitutions side by side", `foo ${"$(echo a) ".repeat(1_900)}`],
  ["values", `${Array.from({ length: 1_900 }, (_, i) => `A${i}=$(echo a)`).join(" ")} foo`],
  ["commands of sed", `sed '${"s/[a/]b/c/;".repeat(300)}' a`],
  ["parts of awk", `awk '${'print "a";'.repeat(400)}' a`],
  ["brackets of Node", `node -e '${"a[".repeat(2_000)}'`],
];

test.each(LARGE)("decidePermission › decides a line of many %s quickly", (_, line) => {
  const many = Array.from({ length: 300 }, (_, i) => `Bash(a*z${i} y)`);
  const spentMs = processorMs(() => {
    for (const deny of [["Bash(rm:*)", "Bash(a* z)"], many]) {
      decideLine(line, { allow: ["Bash"], ask: [], deny });
    }
    decideLine(line, { allow: [], ask: [], deny: [] });
  });
  expect(spentMs).toBeLessThan(60_000);
});
