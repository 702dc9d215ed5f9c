import { chmodSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  bootId,
  isOfHere,
  livenessOf,
  ownIdentity,
  pidSpace,
  type RecordedProcess,
  startFromPs,
} from "../../../../src/os/process/identity.ts";
import { temporaryDirectory } from "../../../support/files/temporary-directory.ts";

const NOBODY = 999_999_999;
const OTHER_BOOT = "00000000-0000-4000-8000-000000000000";
const own = ownIdentity();

describe("A record of a process", () => {
  test.each<[string, Partial<RecordedProcess>, ReturnType<typeof livenessOf>, boolean]>([
    ["of this one is of a living one", {}, "alive", true],
    [
      "without space and boot, as older peers write it, too",
      { pidSpace: undefined, bootId: undefined },
      "alive",
      true,
    ],
    ["without a start is judged by its pid alone", { procStart: undefined }, "alive", true],
    ["whose pid is used again is of a dead one", { procStart: "1" }, "dead", true],
    ["whose pid nobody has too", { pid: NOBODY }, "dead", true],
    ["of an earlier boot too, though pid and start fit", { bootId: OTHER_BOOT }, "dead", false],
    [
      "of a container of this host is not judged by its pid",
      { pid: NOBODY, pidSpace: inContainer() },
      "unknown",
      false,
    ],
    [
      "of a container of an earlier boot is of a dead one",
      { pidSpace: inContainer(), bootId: OTHER_BOOT },
      "dead",
      false,
    ],
    [
      "of a container that says no boot is not judged",
      { pidSpace: inContainer(), bootId: undefined },
      "unknown",
      false,
    ],
    ["of another host is not judged", { pidSpace: "other#pid:[1]", bootId: OTHER_BOOT }, "unknown", false],
    [
      "of a host whose name only begins like this one's is not either",
      { pidSpace: `${hostname()}2#pid:[1]`, bootId: OTHER_BOOT },
      "unknown",
      false,
    ],
  ])("%s (S77)", (_what, fields, liveness, ofHere) => {
    const record = { ...own, ...fields };
    expect(livenessOf(record)).toBe(liveness);
    expect(isOfHere(record)).toBe(ofHere);
  });

  test.runIf(process.platform === "linux")("names the pid namespace and the boot", () => {
    expect(pidSpace()).toBe(`${hostname()}#${own.pidSpace?.split("#")[1]}`);
    expect(pidSpace()).toMatch(/#pid:\[\d+\]$/);
    expect(bootId()).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe("ps", () => {
  test("says of a process that it does not know that it is gone; when it cannot be asked it says nothing", () => {
    expect(startFromPs(process.pid)).toMatch(/^\w{3} \w{3} +\d+ [\d:]{8} \d{4}$/);
    expect(startFromPs(NOBODY)).toBeUndefined();
    expect(() => startFromPs(process.pid, { PATH: "/nowhere" })).toThrow("ENOENT");
  });

  test("is asked in no language and no time zone but one, so that a start reads the same everywhere", () => {
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
