import { expect, test } from "vitest";
import { withPlainExports } from "../../../scripts/lib/plain-exports.mjs";

function exportsOf(code: string): Record<string, PropertyDescriptor> {
  const exports = {};
  new Function("exports", withPlainExports(code))(exports);
  return Object.getOwnPropertyDescriptors(exports);
}

/** An export as rolldown writes it. */
function exported(name: string, local = name): string {
  return `Object.defineProperty(exports, "${name}", {\n  enumerable: true,\n  get: function () {\n    return ${local};\n  }\n});\n`;
}

test.each([
  ["a constant", "const it = 5;\n"],
  ["a function", "function it() {}\n"],
  ["an async function", "async function it() {}\n"],
  ["a generator", "function* it() {}\n"],
  ["a class", "class it {}\n"],
])("withPlainExports exports %s as a plain property", (_kind, code) => {
  const { shown } = exportsOf(`${code}${exported("shown", "it")}`);
  expect(shown).toMatchObject({ enumerable: true });
  expect(shown).toHaveProperty("value");
});

test("withPlainExports keeps the getter of a variable that may change", () => {
  const code = `let it = 1;\n${exported("it")}it = 2;`;
  expect(exportsOf(code).it?.get?.()).toBe(2);
});

test("withPlainExports ignores a name inside a function", () => {
  const code = `let it = 1;\nfunction other() {\n  const it = 0;\n  return it;\n}\n${exported("it")}it = 2;`;
  expect(exportsOf(code).it?.get?.()).toBe(2);
});
