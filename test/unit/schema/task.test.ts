import fc from "fast-check";
import { expect, test } from "vitest";
import { isPlainTask } from "../../../src/schema/guards/task.ts";
import { task } from "../../../src/schema/task.ts";

const plain = {
  id: "7",
  subject: "s",
  description: "",
  status: "pending",
  blocks: [],
  blockedBy: ["1"],
};

test("isPlainTask is true only for values that the schema returns unchanged", () => {
  const anyValue = fc.oneof(
    fc.constant(undefined),
    fc.string(),
    fc.integer(),
    fc.constant(null),
    fc.array(fc.string()),
  );
  const field = fc.constantFrom(
    "id",
    "subject",
    "description",
    "status",
    "owner",
    "activeForm",
    "blocks",
    "blockedBy",
    "metadata",
    "x",
  );
  let plainCount = 0;
  fc.assert(
    fc.property(fc.dictionary(field, anyValue, { maxKeys: 2 }), (changes) => {
      const value: unknown = JSON.parse(JSON.stringify({ ...plain, ...changes }));
      if (!isPlainTask(value)) return;
      plainCount += 1;
      expect(task.parse(value)).toEqual(value);
    }),
    { numRuns: 1_000 },
  );
  expect(plainCount).toBeGreaterThan(50);
});

test.each([
  ["null instead of an object", null],
  ["a text instead of an object", "7"],
  ["an id with a path", { ...plain, id: "../7" }],
  ["an unknown status", { ...plain, status: "deleted" }],
  ["missing lists", { ...plain, blocks: undefined }],
  ["a list of numbers", { ...plain, blockedBy: [1] }],
  ["metadata that is a list", { ...plain, metadata: [] }],
])("isPlainTask is false for %s", (_title, value) => {
  expect(isPlainTask(value)).toBe(false);
});
