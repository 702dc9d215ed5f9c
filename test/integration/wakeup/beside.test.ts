import { join } from "node:path";
import { expect, test } from "vitest";
import { alsoRing, makeFifos, openFifoBell, ring } from "../../../src/wakeup/fifo-bell.ts";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";

test("What stands beside a FIFO is rung with it, and alone where the FIFO is gone, until it leaves", async () => {
  const path = join(temporaryDirectory(), "bell");
  let rings = 0;
  const leave = alsoRing(path, () => {
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

test("Nobody is there where neither a FIFO nor anything beside it is", () => {
  const path = join(temporaryDirectory(), "bell");
  alsoRing(path, () => undefined)();
  expect(ring(path)).toBe("nobody");
});
