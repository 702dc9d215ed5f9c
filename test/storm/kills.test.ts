import { existsSync, truncateSync } from "node:fs";
import { it } from "vitest";
import { temporaryDirectory } from "../support/files/temporary-directory.ts";
import { DEADLINE, kills, runStorms } from "../support/storm/storm.ts";

it("a storm of kills and foreign writers › loses and duplicates no message, task or conversation", {
  timeout: DEADLINE,
}, async () => {
  await runStorms(temporaryDirectory(), async (team, storm) => {
    const truncateConfig = () => existsSync(team.ref.paths.config) && truncateSync(team.ref.paths.config, 0);
    await storm.run({ ...kills(team), "truncate the config": truncateConfig });
  });
});
