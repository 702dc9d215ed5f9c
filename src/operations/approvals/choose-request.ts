import { TeamError } from "../../errors.ts";
import { sameName, splitAddress } from "../../schema/names.ts";
import { teamOption } from "../../team/address-words.ts";
import type { TeamRef } from "../../team/ref.ts";
import { type Approval, listApprovals } from "./approvals.ts";

/**
 * Finds an open request.
 * @param wanted an id, the beginning of one id, or the name of the asking member, which selects its oldest request; undefined
 * selects the oldest request of all
 * @returns its id; `wanted` itself if no open request matches: the caller then distinguishes answered requests from unknown ones
 * @throws TeamError REQUEST_NOT_FOUND if no request is open, INVALID_INPUT if several ids begin with `wanted`
 */
export function chooseRequest(ref: TeamRef, wanted: string | undefined): string {
  const open = listApprovals(ref);
  if (wanted === undefined) return oldest(ref, open);
  if (open.some(({ id }) => id === wanted)) return wanted;
  const { name } = splitAddress(wanted);
  const asked = open.find(({ from }) => sameName(from, name));
  if (asked !== undefined) return asked.id;
  const [first, second, ...more] = open.filter(({ id }) => id.startsWith(wanted));
  if (first === undefined || wanted === "") return wanted;
  if (second === undefined) return first.id;
  const ids = [first, second, ...more].map(({ id }) => id).join(", ");
  throw new TeamError("INVALID_INPUT", `Several request ids begin with ${wanted}; nothing was answered.`, {
    hint: `Give more of the id: ${ids}`,
  });
}

/** Returns whether an open request of a team has this id, or an id that begins with it. */
export function hasRequest(ref: TeamRef, wanted: string): boolean {
  return wanted !== "" && listApprovals(ref).some(({ id }) => id.startsWith(wanted));
}

function oldest(ref: TeamRef, [first]: readonly Approval[]): string {
  if (first !== undefined) return first.id;
  throw new TeamError("REQUEST_NOT_FOUND", `Nothing is waiting for you in ${ref.team}.`, {
    hint: `To see what the team is doing: teams status${teamOption(ref, {})}`,
  });
}
