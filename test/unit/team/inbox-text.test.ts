import { expect, test } from "vitest";
import { salvageEntries } from "../../../src/team/inbox-text.ts";

test("a very long message stands in the way of no repair", () => {
  const text = `${"a".repeat(1000)}\n`.repeat(20_000);
  const [first, second, ...rest] = salvageEntries(`[${JSON.stringify({ text })},{"b":1},{"c`);
  expect((first as { text: string }).text).toHaveLength(text.length);
  expect([second, rest]).toEqual([{ b: 1 }, []]);
});
