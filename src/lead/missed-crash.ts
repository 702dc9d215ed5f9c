import type { TeamMember } from "../schema/config.ts";
import type { Ending } from "../schema/ending.ts";
import { claimEnding, endOf, TOLD_END } from "../team/endings.ts";
import { exitOf, isWished } from "../team/liveness.ts";
import { memberOf } from "../team/members.ts";
import { readCrash, readStatus } from "../team/records.ts";
import type { LeadContext } from "./context.ts";
import { lastLinesOf, reasonOf } from "./end-news.ts";

/**
 * Claims a crash, or another end, that nobody had noticed when a person started the program again in its pane. It goes on
 * with what it had; of several such in a row only the last is known.
 * @returns undefined when there is none, or it was told
 */
export async function claimMissedCrash(
  { ref }: LeadContext,
  { name, metadata }: TeamMember,
): Promise<Ending | undefined> {
  const status = readStatus(ref, name);
  if (status?.before === undefined) return undefined;
  const id = endOf({ ...status, process: status.before });
  const isTold = (told: unknown): boolean => told === id || told === endOf(status);
  if (isTold(metadata?.[TOLD_END])) return undefined;
  const record = readCrash(ref, name);
  const exit = record !== undefined && record.instance === status.instance ? exitOf(record) : null;
  const verb = exit !== null && isWished(exit) ? "ended" : "crashed";
  const news = `${name} ${verb}${reasonOf(exit)} and was started again in its pane.${lastLinesOf(exit)}`;
  return claimEnding(ref, { id, name, how: "restarted", news, tasks: [] }, (config) => {
    const known = memberOf(config, name);
    return known === undefined || isTold(known.metadata?.[TOLD_END]) ? undefined : config;
  });
}
