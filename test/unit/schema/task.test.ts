import fc from "fast-check";
import { expect, test } from "vitest";
import { isPlainTask, task } from "../../../src/schema/task.ts";

const plain = {
  id: "7",
  subject: "s",
  description: "",
  status: "pending",
  blocks: [],
  blockedBy: ["1"],
};

test("a task that needs no leniency is the same read by hand and by the schema", () => {
  const odd = fc.oneof(
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
  let plainOnes = 0;
  fc.assert(
    fc.property(fc.dictionary(field, odd, { maxKeys: 2 }), (changes) => {
      const value: unknown = JSON.parse(JSON.stringify({ ...plain, ...changes }));
      if (!isPlainTask(value)) return;
      plainOnes += 1;
      expect(task.parse(value)).toEqual(value);
    }),
    { numRuns: 1_000 },
  );
  expect(plainOnes).toBeGreaterThan(50);
});

test.each([
  ["no object", null],
  ["no object", "7"],
  ["an id that reaches elsewhere", { ...plain, id: "../7" }],
  ["an unknown state", { ...plain, status: "deleted" }],
  ["no lists", { ...plain, blocks: undefined }],
  ["a list of something else", { ...plain, blockedBy: [1] }],
  ["facts that are none", { ...plain, metadata: [] }],
])("%s is left to the schema", (_title, value) => {
  expect(isPlainTask(value)).toBe(false);
});
