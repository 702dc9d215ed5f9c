import fc from "fast-check";
import { expect, it } from "vitest";
import { LineSplitter } from "../../../../src/agent/mcp/lines.ts";

const MAX = 20;
const text = fc.string({ unit: fc.constantFrom("a", "é", "😀", "\n", "\n", "\r", "{"), maxLength: 80 });
const cuts = fc.array(fc.nat(200), { maxLength: 10 });

it("LineSplitter › gives the same lines however the bytes arrive, and undefined for those that are too long", () => {
  fc.assert(
    fc.property(text, cuts, (given, at) => {
      const bytes = Buffer.from(given, "utf8");
      const ends = [...new Set(at.map((cut) => Math.min(cut, bytes.length)))].sort((a, b) => a - b);
      const chunks = [0, ...ends].map((from, i) => bytes.subarray(from, ends[i] ?? bytes.length));
      const splitter = new LineSplitter(MAX);
      const whole = given.split("\n").slice(0, -1);
      expect(chunks.flatMap((chunk) => splitter.push(chunk))).toEqual(
        whole.map((line) => (Buffer.byteLength(line) > MAX ? undefined : line)),
      );
    }),
  );
});
