import { createHash } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { sha256 } from "../../../src/protocol/sha256.ts";

test("sha256 equals the hash of node:crypto for a text of any length", () => {
  const text = fc.oneof(
    fc.string({ unit: "binary", maxLength: 300 }),
    // Lengths around the end of a block.
    fc.integer({ min: 50, max: 70 }).map((length) => "a".repeat(length)),
  );
  fc.assert(
    fc.property(text, (value) => {
      expect(sha256(value)).toBe(createHash("sha256").update(value).digest("hex"));
    }),
  );
});
