import { spawnSync } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import { it } from "vitest";
import { temporaryDirectory } from "../support/files/temporary-directory.ts";
import { MAY_MOUNT, memoryDisk } from "../support/storm/disk.ts";
import { DEADLINE, kills, type Random, runStorms } from "../support/storm/storm.ts";

const hasPrlimit = spawnSync("prlimit", ["--version"]).status === 0;

it.skipIf(!MAY_MOUNT)(
  "a storm on a disk that fills up › loses and duplicates no message, task or conversation",
  { timeout: DEADLINE },
  async () => {
    const disk = memoryDisk();
    const fill = async (random: Random) => {
      disk.fill(random() < 0.5 ? 0 : random() * 40_000);
      await delay(random() * 1_500);
      disk.empty();
    };
    await runStorms(disk.path, async (team, storm) => {
      await storm.run({ ...kills(team), "fill the disk": fill, "fill it again": fill });
    });
  },
);

/** Replaces the test above for a user who may not mount a disk. */
it.skipIf(MAY_MOUNT || !hasPrlimit)(
  "a storm in which no file can grow › loses and duplicates no message, task or conversation",
  { timeout: DEADLINE },
  async () => {
    await runStorms(temporaryDirectory(), async (team, storm) => {
      const limit = async (random: Random) => {
        team.limitFiles("0");
        await delay(random() * 1_500);
        team.limitFiles("unlimited");
      };
      await storm.run({ ...kills(team), "limit files": limit, "limit them again": limit });
    });
  },
);
