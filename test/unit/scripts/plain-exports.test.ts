import { expect, test } from "vitest";
import { withPlainExports } from "../../../scripts/lib/plain-exports.mjs";

function exportsOf(code: string): Record<string, PropertyDescriptor> {
  const exports = {};
  new Function("exports", withPlainExports(code))(exports);
  return Object.getOwnPropertyDescriptors(exports);
}

/** As rolldown writes it. */
function handedOn(name: string, local = name): string {
  return `Object.defineProperty(exports, "${name}", {\n  enumerable: true,\n  get: function () {\n    return ${local};\n  }\n});\n`;
}

test.each([
  ["a constant", "const it = 5;\n"],
  ["a function", "function it() {}\n"],
  ["an async function", "async function it() {}\n"],
  ["a generator", "function* it() {}\n"],
  ["a class", "class it {}\n"],
])("%s is handed on as a plain property", (_kind, code) => {
  const { shown } = exportsOf(`${code}${handedOn("shown", "it")}`);
  expect(shown).toMatchObject({ enumerable: true });
  expect(shown).toHaveProperty("value");
});

test("what may change is handed on by its getter", () => {
  const code = `let it = 1;\n${handedOn("it")}it = 2;`;
  expect(exportsOf(code).it?.get?.()).toBe(2);
});

test("a name inside of a function is none of the chunk's", () => {
  const code = `let it = 1;\nfunction other() {\n  const it = 0;\n  return it;\n}\n${handedOn("it")}it = 2;`;
  expect(exportsOf(code).it?.get?.()).toBe(2);
});
