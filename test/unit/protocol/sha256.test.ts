import { createHash } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { sha256 } from "../../../src/protocol/sha256.ts";

test("a text of any length has the hash that everybody else computes", () => {
  const text = fc.oneof(
    fc.string({ unit: "binary", maxLength: 300 }),
    // Around the end of a block.
    fc.integer({ min: 50, max: 70 }).map((length) => "a".repeat(length)),
  );
  fc.assert(
    fc.property(text, (value) => {
      expect(sha256(value)).toBe(createHash("sha256").update(value).digest("hex"));
    }),
  );
});
