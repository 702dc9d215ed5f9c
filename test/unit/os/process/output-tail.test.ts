import { expect, test } from "vitest";
import { OutputTail } from "../../../../src/os/process/output-tail.ts";

const bytes = Buffer.from("a😀b");

test("OutputTail › joins characters that are split over two pieces, for each stream separately", () => {
  const tail = new OutputTail(100);
  tail.add(bytes.subarray(0, 3));
  tail.add(bytes.subarray(0, 2), "stderr");
  tail.add(bytes.subarray(3));
  tail.add(bytes.subarray(2), "stderr");
  expect(tail.text).toBe("aa😀b😀b");
});

test("OutputTail › keeps whole characters of the newest output, and marks the cut", () => {
  const tail = new OutputTail(3);
  for (let i = 0; i < 5; i += 1) tail.add(bytes);
  expect(tail.text).toBe("…😀b");
  const short = new OutputTail(2);
  for (let i = 0; i < 5; i += 1) short.add(bytes);
  expect(short.text).toBe("…b");
});
