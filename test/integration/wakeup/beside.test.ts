import { join } from "node:path";
import { expect, test } from "vitest";
import { makeFifos, openFifoBell, ring, ringBeside } from "../../../src/wakeup/fifo-bell.ts";
import { temporaryDirectory } from "../../support/temporary.ts";

test("ringBeside › rings the extra bell with the FIFO, and alone if the FIFO is missing, until it is removed", async () => {
  const path = join(temporaryDirectory(), "bell");
  let rings = 0;
  const leave = ringBeside(path, () => {
    rings += 1;
  });
  expect(ring(path)).toBe("rung");
  await makeFifos([path]);
  const bell = openFifoBell(path);
  try {
    expect(ring(path)).toBe("rung");
    expect(await bell.wait({ timeoutMs: 5_000 })).toBe("rung");
    expect(rings).toBe(2);
    leave();
    ring(path);
    expect(rings).toBe(2);
  } finally {
    bell.close();
  }
});

test('ring › returns "nobody" if neither a FIFO nor an extra bell exists', () => {
  const path = join(temporaryDirectory(), "bell");
  ringBeside(path, () => undefined)();
  expect(ring(path)).toBe("nobody");
});
