import { isOfHere } from "../../os/process/identity.ts";
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
const GRACE_MS = 2_000;

/** One start of an agent, as its records have it. */
interface StartRecords {
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
  const begun = place === undefined && process === undefined ? claimedInstance(ctx, name) : undefined;
  return begun === undefined
    ? endStartProcesses(ctx, { place, process, instance })
    : endMarkedProcesses(begun);
}

/** The start of one that was put nowhere, as far as anybody wrote down: whoever did it was killed. */
function claimedInstance({ ref }: OperationContext, name: string): string | undefined {
  const member = lookUpMember(readTeam(ref), name);
  return member && readMetadata(member, "startClaim")?.instance;
}

/**
 * Ends all that carries the marker of a start whose launch script is unknown, or that has none.
 * @param host the process that it lives in, which stays
 * @returns the pids that could not be ended
 */
export async function endMarkedProcesses(marker: string, host?: ProcessIdentity): Promise<readonly number[]> {
  const tree = { root: { pid: 0, procStart: "" }, marker, ...(host && { host }) };
  return (await endTree(tree, { graceMs: GRACE_MS })).left;
}

/** The same of one start, whoever has the name by now. */
export async function endStartProcesses(
  ctx: OperationContext,
  { place, process, instance }: StartRecords,
): Promise<readonly number[]> {
  if (place?.within !== undefined) return endInHostProcess(ctx, place);
  const root = launchScriptOf(place) ?? process;
  const marker = place?.instance ?? instance;
  if (root?.procStart === undefined || marker === undefined) return [];
  // Of another boot nothing is left, and in another pid space the same number is somebody else.
  if (!isOfHere(root)) return [];
  const { pid, procStart } = root;
  const { left } = await endTree({ root: { pid, procStart }, marker }, { graceMs: GRACE_MS });
  return left;
}

/** Of one that lives in another's process only what it started has pids of its own. */
async function endInHostProcess(
  { backends }: OperationContext,
  place: PlaceRecord,
): Promise<readonly number[]> {
  const within = (await backends.of(place.backend)?.end?.(place, GRACE_MS)) ?? [];
  if (place.within === undefined || !isOfHere(place.within.process)) return within;
  return [...within, ...(await endMarkedProcesses(place.instance, place.within.process))];
}
