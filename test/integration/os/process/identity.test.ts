import { chmodSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  bootId,
  isLocalProcess,
  livenessOf,
  ownIdentity,
  pidSpace,
  type RecordedProcess,
  startFromPs,
} from "../../../../src/os/process/identity.ts";
import { temporaryDirectory } from "../../../support/files/temporary-directory.ts";

const UNUSED_PID = 999_999_999;
const OTHER_BOOT = "00000000-0000-4000-8000-000000000000";
const own = ownIdentity();
const NAMESPACE = own.pidSpace?.split("#")[1] ?? "";

describe("livenessOf and isLocalProcess, for the record of a process,", () => {
  test.each<[string, Partial<RecordedProcess>, ReturnType<typeof livenessOf>, boolean]>([
    ["report this process as alive", {}, "alive", true],
    [
      "report a record without pid space and boot id, as other programs write it, as alive",
      { pidSpace: undefined, bootId: undefined },
      "alive",
      true,
    ],
    ["judge a record without a start time by its pid alone", { procStart: undefined }, "alive", true],
    ["report a reused pid as dead", { procStart: "1" }, "dead", true],
    ["report an unused pid as dead", { pid: UNUSED_PID }, "dead", true],
    [
      "report a process of an earlier boot as dead, even if pid and start time match",
      { bootId: OTHER_BOOT },
      "dead",
      false,
    ],
    [
      "report this process as alive after the machine got another name",
      { pidSpace: `renamed#${NAMESPACE}` },
      "alive",
      true,
    ],
    [
      "report an unused pid as dead after the machine got another name",
      { pid: UNUSED_PID, pidSpace: `renamed#${NAMESPACE}` },
      "dead",
      true,
    ],
    [
      "do not judge a process in a container of the machine under another name",
      { pid: UNUSED_PID, pidSpace: "renamed#pid:[1]" },
      "unknown",
      false,
    ],
    [
      "do not judge a process under another host name without a boot id",
      { pidSpace: `renamed#${NAMESPACE}`, bootId: undefined },
      "unknown",
      false,
    ],
    [
      "do not judge a process in a container of this host by its pid",
      { pid: UNUSED_PID, pidSpace: inContainer() },
      "unknown",
      false,
    ],
    [
      "report a process in a container of an earlier boot as dead",
      { pidSpace: inContainer(), bootId: OTHER_BOOT },
      "dead",
      false,
    ],
    [
      "do not judge a process in a container without a boot id",
      { pidSpace: inContainer(), bootId: undefined },
      "unknown",
      false,
    ],
    [
      "do not judge a process of another host",
      { pidSpace: "other#pid:[1]", bootId: OTHER_BOOT },
      "unknown",
      false,
    ],
    [
      "do not judge a process of a host whose name only begins like this one",
      { pidSpace: `${hostname()}2#pid:[1]`, bootId: OTHER_BOOT },
      "unknown",
      false,
    ],
  ])("%s (S77)", (_what, fields, liveness, isLocal) => {
    const record = { ...own, ...fields };
    expect(livenessOf(record)).toBe(liveness);
    expect(isLocalProcess(record)).toBe(isLocal);
  });

  test.runIf(process.platform === "linux")("ownIdentity contains the pid namespace and the boot id", () => {
    expect(pidSpace()).toBe(`${hostname()}#${own.pidSpace?.split("#")[1]}`);
    expect(pidSpace()).toMatch(/#pid:\[\d+\]$/);
    expect(bootId()).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe("startFromPs", () => {
  test("is undefined for an unknown pid, and throws if ps cannot be run", () => {
    expect(startFromPs(process.pid)).toMatch(/^\w{3} \w{3} +\d+ [\d:]{8} \d{4}$/);
    expect(startFromPs(UNUSED_PID)).toBeUndefined();
    expect(() => startFromPs(process.pid, { PATH: "/nowhere" })).toThrow("ENOENT");
  });

  test("runs ps in the C locale and in UTC, so that a start time always reads the same", () => {
    const bin = temporaryDirectory();
    writeFileSync(join(bin, "ps"), '#!/bin/sh\necho "$LC_ALL $TZ [$LANG] $*"\n');
    chmodSync(join(bin, "ps"), 0o700);
    const env = {
      PATH: `${bin}:${process.env.PATH}`,
      LC_ALL: "de_DE.UTF-8",
      LANG: "de_DE.UTF-8",
      TZ: "Asia/Tokyo",
    };
    expect(startFromPs(7, env)).toBe("C UTC [] -o lstart= -p 7");
  });
});

function inContainer(): string {
  return `${hostname()}#pid:[1]`;
}
