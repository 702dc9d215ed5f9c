import { lutimesSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ownerLiveness, ownerRecord, seekOwnerLock } from "../../../src/store/owner-lock.ts";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";

const FIELDS = ["pid", "start", "host", "space", "boot", "word"] as const;

/** This process's record with some of its fields as somebody else's. */
function recordWith(fields: Partial<Record<(typeof FIELDS)[number], string>>): string {
  const own = ownerRecord().split(".");
  return FIELDS.map((name, i) => fields[name] ?? own[i]).join(".");
}

test.each([
  ["this process", {}, "alive"],
  ["one whose pid is used again", { start: "other" }, "dead"],
  ["one whose pid nobody has", { pid: "999999999" }, "dead"],
  ["one of an earlier boot", { boot: "other" }, "dead"],
  ["one in a container of an earlier boot", { boot: "other", space: "other" }, "dead"],
  ["one in another container of this host", { space: "other", pid: "999999999" }, "unknown"],
  ["one on another host", { host: "other", boot: "other" }, "unknown"],
  ["nobody that we know", { pid: "rubbish" }, "unknown"],
] as const)("the lock of %s is judged so (S77)", (_who, fields, liveness) => {
  expect(ownerLiveness(recordWith(fields))).toBe(liveness);
});

test("a lock of another container is left alone for 10 s, though its pid is nobody's here, and then taken (S77)", () => {
  const path = join(temporaryDirectory(), "f.q");
  symlinkSync(recordWith({ space: "other", pid: "999999999" }), path);
  const take = seekOwnerLock(path);
  expect(take()).toBeUndefined();
  const past = Date.now() / 1000 - 11;
  lutimesSync(path, past, past);
  expect(take()?.owned()).toBe(true);
});
