import { expect, test } from "vitest";
import { startFromPs } from "../../../src/os/identity.ts";

test("a process that ps does not know is gone; a ps that cannot be asked says nothing", () => {
  expect(startFromPs(process.pid)).toMatch(/^\w{3} \w{3} +\d+ [\d:]{8} \d{4}$/);
  expect(startFromPs(999_999_999)).toBeUndefined();
  expect(() => startFromPs(process.pid, { PATH: "/nowhere" })).toThrow("ENOENT");
});
