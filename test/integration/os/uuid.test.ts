import { expect, test } from "vitest";
import { newUuid } from "../../../src/os/process/identity.ts";

test("newUuid returns different random UUIDs", () => {
  const uuids = Array.from({ length: 50 }, newUuid);
  expect(new Set(uuids).size).toBe(50);
  for (const uuid of uuids)
    expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});
