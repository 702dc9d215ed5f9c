import { isLocalProcess } from "../../os/process/identity.ts";
import { endTree } from "../../os/process/process-tree.ts";
import { readMetadata } from "../../schema/member-metadata.ts";
import type { ProcessIdentity } from "../../schema/process-identity.ts";
import type { PlaceRecord } from "../../schema/status.ts";
import { readTeam } from "../../team/config/config.ts";
import { launchScriptOf } from "../../team/members/judge-liveness.ts";
import { lookUpMember } from "../../team/members/members.ts";
import { readPlace, readStatus } from "../../team/records/read-records.ts";
import type { OperationContext } from "../context.ts";

/** Milliseconds between SIGTERM and SIGKILL. */
const GRACE = 2_000;

/** One start of an agent, as its records have it. */
interface Started {
  readonly place?: PlaceRecord | undefined;
  readonly process?: ProcessIdentity | undefined;
  /** Where there is no place. */
  readonly instance?: string | undefined;
}

/**
 * Ends what a member's start left running: the launch script, the agent, and everything below them or marked by them.
 * @returns the pids that could not be ended
 */
export async function endProcesses(ctx: OperationContext, name: string): Promise<readonly number[]> {
  const { process, instance } = readStatus(ctx.ref, name) ?? {};
  const place = readPlace(ctx.ref, name);
  const begun = place === undefined && process === undefined ? begunStart(ctx, name) : undefined;
  return begun === undefined ? endStarted(ctx, { place, process, instance }) : endMarked(begun);
}

/** The start of one that was put nowhere, as far as anybody wrote down: whoever did it was killed. */
function begunStart({ ref }: OperationContext, name: string): string | undefined {
  const member = lookUpMember(readTeam(ref), name);
  return member && readMetadata(member, "startClaim")?.instance;
}

/**
 * Ends all that carries the marker of a start whose launch script is unknown, or that has none.
 * @param host the process that it lives in, which stays
 * @returns the pids that could not be ended
 */
export async function endMarked(marker: string, host?: ProcessIdentity): Promise<readonly number[]> {
  const tree = { root: { pid: 0, procStart: "" }, marker, ...(host && { host }) };
  return (await endTree(tree, { graceMs: GRACE })).left;
}

/** The same of one start, whoever has the name by now. */
export async function endStarted(
  ctx: OperationContext,
  { place, process, instance }: Started,
): Promise<readonly number[]> {
  if (place?.within !== undefined) return endWithin(ctx, place);
  const root = launchScriptOf(place) ?? process;
  const marker = place?.instance ?? instance;
  if (root?.procStart === undefined || marker === undefined) return [];
  // Of another boot nothing is left, and in another pid space the same number is somebody else.
  if (!isLocalProcess(root)) return [];
  const { pid, procStart } = root;
  const { left } = await endTree({ root: { pid, procStart }, marker }, { graceMs: GRACE });
  return left;
}

/** Of one that lives in another's process only what it started has pids of its own. */
async function endWithin({ backends }: OperationContext, place: PlaceRecord): Promise<readonly number[]> {
  const within = (await backends.of(place.backend)?.end?.(place, GRACE)) ?? [];
  if (place.within === undefined || !isLocalProcess(place.within.process)) return within;
  return [...within, ...(await endMarked(place.instance, place.within.process))];
}
