import { lutimesSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { awaitLock, ownerLiveness, ownerRecord, seekOwnerLock } from "../../../src/store/owner-lock.ts";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";

const FIELDS = ["pid", "start", "host", "space", "boot", "word"] as const;

/** Returns this process's owner record with some fields replaced. */
function recordWith(fields: Partial<Record<(typeof FIELDS)[number], string>>): string {
  const own = ownerRecord().split(".");
  return FIELDS.map((name, i) => fields[name] ?? own[i]).join(".");
}

test.each([
  ["this process", {}, "alive"],
  ["this process under an earlier name of the machine", { host: "other" }, "alive"],
  ["a dead process under an earlier name of the machine", { host: "other", pid: "999999999" }, "dead"],
  ["a process in a container of a renamed machine", { host: "other", space: "other" }, "unknown"],
  ["a process whose pid is reused", { start: "other" }, "dead"],
  ["a process with an unused pid", { pid: "999999999" }, "dead"],
  ["a process of an earlier boot", { boot: "other" }, "dead"],
  ["a process in a container of an earlier boot", { boot: "other", space: "other" }, "dead"],
  ["a process in another container of this host", { space: "other", pid: "999999999" }, "unknown"],
  ["a process on another host", { host: "other", boot: "other" }, "unknown"],
  ["an unreadable record", { pid: "rubbish" }, "unknown"],
] as const)(
  "ownerLiveness: the lock of %s is judged by pid, start, host and boot (S77)",
  (_who, fields, liveness) => {
    expect(ownerLiveness(recordWith(fields))).toBe(liveness);
  },
);

test("seekOwnerLock waits 10 s before it takes a lock of another container, even if its pid is unused here (S77)", () => {
  const path = join(temporaryDirectory(), "f.q");
  symlinkSync(recordWith({ space: "other", pid: "999999999" }), path);
  const take = seekOwnerLock(path);
  expect(take()).toBeUndefined();
  const past = Date.now() / 1000 - 11;
  lutimesSync(path, past, past);
  expect(take()?.owned()).toBe(true);
});

test("awaitLock counts a pause of a stopped process as a second, and takes the lock afterwards", async () => {
  let nowMs = 0;
  let attempts = 0;
  const path = join(temporaryDirectory(), "f");
  // The process stops for a minute between two attempts.
  const wait = { path, waitMs: 15_000, random: () => 0, now: () => (nowMs += 60_000) };
  const take = () => {
    attempts += 1;
    return attempts === 10 ? "taken" : undefined;
  };
  const wanted = { take, holder: () => "one holder", record: `${path}.q`, retry: { min: 0, spread: 0 } };
  expect(await awaitLock(wait, wanted)).toEqual({ taken: "taken", attempts: 10 });
  attempts = 10;
  await expect(awaitLock(wait, wanted)).rejects.toThrow("was locked for 15 s");
});
