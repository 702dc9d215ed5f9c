import { expect, it } from "vitest";
import { fieldsIn, parsedJson } from "../../../src/adapter/reported-values.ts";

it.each([
  ['{"a":1}', { a: 1 }, { a: 1 }],
  ["[1]", [1], [1]],
  ['"text"', "text", {}],
  ["null", null, {}],
  ['{"a":', undefined, {}],
  ["", undefined, {}],
])("parsedJson and fieldsIn › read %j", (text, value, fields) => {
  expect(parsedJson(text)).toEqual(value);
  expect(fieldsIn(text)).toEqual(fields);
});
