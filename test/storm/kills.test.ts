import { existsSync, truncateSync } from "node:fs";
import { it } from "vitest";
import { temporaryDirectory } from "../support/files/temporary-directory.ts";
import { DEADLINE, kills, rounds } from "../support/storm/storm.ts";

it("a storm of kills and foreign writers › loses and duplicates no message, task or conversation", {
  timeout: DEADLINE,
}, async () => {
  await rounds(temporaryDirectory(), async (team, storm) => {
    const spoilConfig = () => existsSync(team.ref.paths.config) && truncateSync(team.ref.paths.config, 0);
    await storm.rage({ ...kills(team), "spoil the config": spoilConfig });
  });
});
