import { expect, test } from "vitest";
import { withLatePatterns } from "../../../scripts/lib/late-patterns.mjs";

function evaluated(expression: string): unknown {
  return new Function(`return ${withLatePatterns(expression)}`)();
}

test("an expression with Unicode properties is built where it is used, with what it says", () => {
  const literal = '/a\\/[\\p{Cc}"\\u2028]\\n/gu';
  expect(withLatePatterns(`() => ${literal}`)).toMatch(/^\(\) => new RegExp\(/);
  expect(evaluated(literal)).toEqual(/a\/[\p{Cc}"\u2028]\n/gu);
});

test("several in one line each keep their place, and what only looks like one stays", () => {
  const line = '["é1".match(/\\p{L}/u)?.[0], 8 / 2 / 1, "é1".match(/\\p{N}/u)?.[0], "/\\\\p{L}/u"]';
  expect(evaluated(line)).toEqual(["é", 4, "1", "/\\p{L}/u"]);
});

test("every other expression stays as it is written", () => {
  const code = "const plain = /[a-z]+/g;\n";
  expect(withLatePatterns(code)).toBe(code);
});
