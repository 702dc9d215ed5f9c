import { expect, test } from "vitest";
import { withLatePatterns } from "../../../scripts/lib/late-patterns.mjs";

function evaluated(expression: string): unknown {
  return new Function(`return ${withLatePatterns(expression)}`)();
}

test("withLatePatterns replaces a pattern with Unicode properties by an equal RegExp call", () => {
  const literal = '/a\\/[\\p{Cc}"\\u2028]\\n/gu';
  expect(withLatePatterns(`() => ${literal}`)).toMatch(/^\(\) => new RegExp\(/);
  expect(evaluated(literal)).toEqual(/a\/[\p{Cc}"\u2028]\n/gu);
});

test("withLatePatterns replaces several patterns in a line, and keeps divisions and strings", () => {
  const line = '["é1".match(/\\p{L}/u)?.[0], 8 / 2 / 1, "é1".match(/\\p{N}/u)?.[0], "/\\\\p{L}/u"]';
  expect(evaluated(line)).toEqual(["é", 4, "1", "/\\p{L}/u"]);
});

test("withLatePatterns keeps other patterns unchanged", () => {
  const code = "const plain = /[a-z]+/g;\n";
  expect(withLatePatterns(code)).toBe(code);
});
