import { setTimeout as delay } from "node:timers/promises";
import { expect, it } from "vitest";
import { MAY_MOUNT, memoryDisk } from "../support/storm/disk.ts";
import { DEADLINE, kills, type Random, runStorms } from "../support/storm/storm.ts";

it.skipIf(!MAY_MOUNT)(
  "a storm on a disk that turns read-only › loses and duplicates no message, task or conversation",
  { timeout: DEADLINE },
  async () => {
    const disk = memoryDisk();
    const turnReadOnly = async (random: Random) => {
      // The kernel refuses while a file of the disk is open for writing.
      for (let attempt = 0; attempt < 50 && !disk.remount("ro"); attempt += 1) await delay(5);
      await delay(random() * 1_500);
      expect(disk.remount("rw")).toBe(true);
    };
    await runStorms(disk.path, async (team, storm) => {
      await storm.run({ ...kills(team), "read-only": turnReadOnly, "read-only again": turnReadOnly });
    });
  },
);
