import { updateTeam } from "../../../src/team/config/config.ts";
import { moveToFormer } from "../../../src/team/members/members.ts";
import type { TeamRef } from "../../../src/team/ref.ts";

/** Moves a member to `former`, without the other steps of an ending. @returns false if it was gone already */
export async function retireMember(
  ref: TeamRef,
  name: string,
  how: string,
  now = Date.now(),
): Promise<boolean> {
  let retired = false;
  await updateTeam(ref, (config) => {
    const next = moveToFormer(config, name, how, now);
    retired = next !== undefined;
    return next;
  });
  return retired;
}
