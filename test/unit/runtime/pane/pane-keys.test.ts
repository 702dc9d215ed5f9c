import { expect, test } from "vitest";
import { paneKeys } from "../../../../src/runtime/pane/pane-keys.ts";

test("paneKeys › a line of only e explains an open request, and is a message without one", async () => {
  const seen: string[] = [];
  let isOpen = true;
  const parts = {
    view: { answers: (char: string) => isOpen && char === "e", explain: () => seen.push("explained") },
    worker: { handleTypedLine: async (line: string) => void seen.push(line) },
  };
  const keys = paneKeys(parts as unknown as Parameters<typeof paneKeys>[0]);
  await keys.line(" e", 0);
  await keys.line("eh", 0);
  isOpen = false;
  await keys.line("e", 0);
  expect(seen).toEqual(["explained", "eh", "e"]);
});
