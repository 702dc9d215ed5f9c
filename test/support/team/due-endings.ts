import { withMetadata } from "../../../src/schema/member-metadata.ts";
import { updateTeam } from "../../../src/team/config/config.ts";
import { unfinishedEndings } from "../../../src/team/members/ending-claims.ts";
import type { TeamRef } from "../../../src/team/ref.ts";

/** Makes the failed endings of this process due, as if the pause before the next attempt were over. */
export async function makeDue(ref: TeamRef): Promise<void> {
  await updateTeam(ref, (config) => {
    const endings = unfinishedEndings(config);
    return withMetadata(config, { endings: endings.map((one) => ({ ...one, at: one.at - 60_000 })) });
  });
}
