import { it } from "vitest";
import { fileDisk, MAY_CUT_POWER } from "../support/storm/disk.ts";
import { DEADLINE, kills, runStorms } from "../support/storm/storm.ts";

it.skipIf(!MAY_CUT_POWER)(
  "a storm that ends in a power cut › loses and duplicates no message, task or conversation",
  { timeout: DEADLINE },
  async () => {
    const disk = fileDisk();
    await runStorms(disk.path, async (team, storm) => {
      // Other programs do not sync what they write.
      await storm.run(kills(team), { writers: false });
      disk.cutPower();
      await team.endAll();
      await disk.mountAgain();
    });
  },
);
