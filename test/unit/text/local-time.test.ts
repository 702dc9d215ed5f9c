import { afterEach, expect, test } from "vitest";
import { localTime } from "../../../src/text/local-time.ts";

const zone = process.env.TZ;
afterEach(() => {
  if (zone === undefined) delete process.env.TZ;
  else process.env.TZ = zone;
});

test("localTime › returns a time in the time zone of this machine", () => {
  process.env.TZ = "Asia/Kolkata";
  expect(localTime("2026-01-02T20:04:05.678Z")).toBe("2026-01-03 01:34");
  expect(localTime(Date.UTC(2026, 0, 2, 20, 4, 5), "seconds")).toBe("2026-01-03 01:34:05");
});

test("localTime › returns a text that is not a time unchanged", () => {
  expect(localTime("soon")).toBe("soon");
});
