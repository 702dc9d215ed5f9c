import { TeamError } from "../../errors.ts";
import { livenessOf } from "../../os/process/identity.ts";
import type { TeamConfig, TeamMember } from "../../schema/config.ts";
import { didYouMean } from "../../schema/did-you-mean.ts";
import { sameName, splitAddress } from "../../schema/names.ts";
import { operand } from "../../text/shell-quote.ts";
import { lookUpMember } from "../members/members.ts";
import { readExit, readStatus } from "../records/read-records.ts";
import type { TeamRef } from "../ref.ts";

/**
 * The member that a message is for.
 * @throws TeamError RECIPIENT_NOT_FOUND with the nearest names; RECIPIENT_INACTIVE for one that has ended for good
 */
export function recipientOf(config: TeamConfig, address: string): TeamMember {
  const member = lookUpMember(config, address);
  if (member !== undefined) return member;
  const { name, team } = splitAddress(address);
  const ended = config.former?.findLast((former) => sameName(former.name, name));
  if (ended !== undefined && (team === undefined || team === config.name)) {
    throw new TeamError("RECIPIENT_INACTIVE", `${ended.name} has ended (${ended.how}); nothing was sent.`, {
      hint: `A new one: teams spawn ${operand(ended.name)}`,
    });
  }
  const names = config.members.map((other) => other.name);
  throw new TeamError(
    "RECIPIENT_NOT_FOUND",
    `There is no member ${JSON.stringify(address)} in ${config.name}; nothing was sent.`,
    { hint: didYouMean(name, names, `Its members: ${names.join(", ")}.`) },
  );
}

/** Only of who has our records can it be said that it is down. */
export function isDown(ref: TeamRef, agent: string, status = readStatus(ref, agent)): boolean {
  if (status === undefined) return false;
  if (livenessOf(status.process) === "dead") return true;
  return status.instance !== undefined && readExit(ref, agent)?.instance === status.instance;
}
