import { foreignPlace, provenPane } from "../../backend/tmux/foreign-pane.ts";
import { serverAt } from "../../backend/tmux/server-for.ts";
import { steadyNow } from "../../os/clock.ts";
import { isLocalProcess } from "../../os/process/identity.ts";
import { startMilliseconds } from "../../os/process/started-with.ts";
import type { TeamConfig, TeamMember } from "../../schema/config.ts";
import { defined } from "../../schema/defined.ts";
import { readMetadata } from "../../schema/member-metadata.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import type { ProcessIdentity } from "../../schema/process-identity.ts";
import type { ForeignRecord, PlaceRecord } from "../../schema/status.ts";
import { findForeignProcesses, type ProcessView, viewProcesses } from "../../team/members/foreign-process.ts";
import { versionOfClaude } from "../../team/members/peer-version.ts";
import { readForeign, writeForeign } from "../../team/records/foreign-record.ts";
import { readPlace, readStatus } from "../../team/records/read-records.ts";
import { judgeProcess, type TeamRef } from "../../team/ref.ts";
import { TmuxError } from "../../tmux/error.ts";
import type { OperationContext } from "../context.ts";

/** The proof of a foreign member's process. */
export type ForeignProof =
  /** It runs. `place` is its pane, if that is proven too. */
  | {
      readonly alive: true;
      readonly process: ProcessIdentity;
      readonly place?: PlaceRecord | undefined;
      readonly version?: string | undefined;
    }
  /** It was proven earlier, has ended, and no other process of the member runs. `place` was its pane, which may still exist. */
  | {
      readonly alive: false;
      readonly process: ProcessIdentity;
      readonly place?: PlaceRecord | undefined;
      readonly version?: string | undefined;
    }
  /**
   * Nothing is proven, so the member counts as alive. `unseen`: no process shows that it is the member's; `ambiguous`: several do;
   * `elsewhere`: its process was proven on another machine or in another pid space.
   */
  | { readonly alive: null; readonly why: "unseen" | "ambiguous" | "elsewhere" };

/** Whether a member is another program's: teams has not started it, and has not begun to. */
export function isForeignMember(ref: TeamRef, member: TeamMember): boolean {
  const { name } = member;
  if (name === LEAD_NAME || readMetadata(member, "startClaim") !== undefined) return false;
  return readStatus(ref, name) === undefined && readPlace(ref, name) === undefined;
}

/**
 * Proves the processes and panes of foreign members, by name. A process that runs is recorded, except in another program's team,
 * so that its end is known later. Reads the processes of the system at most once, and not at all while all recorded ones run,
 * or within 2 s after it found none of a member: callers ask after each change of a file.
 * @throws TeamError TEAM_NOT_FOUND; an error of tmux only leaves the pane unproven
 */
export async function proveForeignMembers(
  ctx: OperationContext,
  config: TeamConfig,
  members: readonly TeamMember[] = config.members,
): Promise<ReadonlyMap<string, ForeignProof>> {
  let view: ProcessView | undefined;
  const readView = (): ProcessView => {
    view ??= viewProcesses();
    return view;
  };
  const proofs = new Map<string, ForeignProof>();
  for (const member of members.filter((one) => isForeignMember(ctx.ref, one))) {
    const key = `${ctx.ref.paths.dir} ${member.name} ${member.joinedAt}`;
    const isRecent = steadyNow() - (unseenAt.get(key) ?? Number.NEGATIVE_INFINITY) < RESCAN_MS;
    const proof = isRecent ? recordedProof(ctx.ref, member) : await prove(ctx, config, member, readView);
    proofs.set(member.name, proof);
    if (!isRecent && proof.alive !== true) unseenAt.set(key, steadyNow());
  }
  return proofs;
}

/** Milliseconds until the processes are searched again for a member without a known process. */
const RESCAN_MS = 2_000;
const unseenAt = new Map<string, number>();

/** Proves the process and pane of one foreign member, as {@link proveForeignMembers}. */
export async function proveForeignMember(
  ctx: OperationContext,
  config: TeamConfig,
  member: TeamMember,
): Promise<ForeignProof> {
  return prove(ctx, config, member, viewProcesses);
}

/** Returns what the record of an earlier proof says about a foreign member now, without reading other processes. */
export function recordedProof(ref: TeamRef, member: TeamMember): ForeignProof {
  const recorded = recordOf(ref, member);
  if (recorded === undefined) return { alive: null, why: "unseen" };
  const liveness = judgeProcess(ref, recorded.process);
  if (liveness === "unknown") return { alive: null, why: "elsewhere" };
  return { alive: liveness === "alive", ...proven(recorded) };
}

async function prove(
  ctx: OperationContext,
  config: TeamConfig,
  member: TeamMember,
  readView: () => ProcessView,
): Promise<ForeignProof> {
  const { ref } = ctx;
  const recorded = recordOf(ref, member);
  const liveness = recorded && judgeProcess(ref, recorded.process);
  if (recorded !== undefined && liveness === "alive" && recorded.pane !== undefined)
    return { alive: true, ...proven(recorded) };
  if (liveness === "unknown") return { alive: null, why: "elsewhere" };
  const view = readView();
  const found = await findProven(ctx, config, member, view);
  if (found.length > 1) return { alive: null, why: "ambiguous" };
  const [record] = found;
  if (record !== undefined) {
    if (config.schemaVersion !== undefined && !isSame(record, recorded))
      writeForeign(ref, member.name, {
        ...record,
        ...defined({ interruptedAt: recorded?.interruptedAt }),
      });
    return { alive: true, ...proven(record) };
  }
  if (recorded === undefined) return { alive: null, why: "unseen" };
  return { alive: liveness === "alive", ...proven(recorded) };
}

/** Returns the record of this member; a record of an earlier holder of the name does not count. */
function recordOf(ref: TeamRef, { name, joinedAt }: TeamMember): ForeignRecord | undefined {
  const record = readForeign(ref, name);
  return record?.joinedAt === joinedAt ? record : undefined;
}

function proven(
  record: ForeignRecord,
): Pick<ForeignProof & { alive: true }, "process" | "place" | "version"> {
  return { process: record.process, place: foreignPlace(record), version: record.version };
}

function isSame(record: ForeignRecord, before: ForeignRecord | undefined): boolean {
  const facts = (one: ForeignRecord | undefined): string =>
    JSON.stringify([one?.process.pid, one?.process.procStart, one?.pane, one?.version]);
  return facts(record) === facts(before);
}

/** Finds the member's running processes. A process that is shown only by its pane counts if its pane is proven. */
async function findProven(
  ctx: OperationContext,
  config: TeamConfig,
  member: TeamMember,
  view: ProcessView,
): Promise<readonly ForeignRecord[]> {
  const found: ForeignRecord[] = [];
  for (const one of findForeignProcesses(ctx.home.root, config, member, view)) {
    const pane = await paneOf(ctx, one, view, member.tmuxPaneId);
    if (pane === undefined && one.shownBy === "pane") continue;
    const { process, startedWith } = one;
    const version = versionOfClaude(startedWith, startMilliseconds(process.procStart));
    const { joinedAt } = member;
    found.push({ joinedAt, process, ...defined({ pane, version }), provenAt: ctx.clock.now() });
  }
  return found;
}

async function paneOf(
  ctx: OperationContext,
  process: Parameters<typeof provenPane>[1],
  { table }: ProcessView,
  recorded: string,
): Promise<ForeignRecord["pane"]> {
  if (!isLocalProcess(process.process)) return undefined;
  try {
    return await provenPane((socket) => serverAt({ socket }, ctx.env), process, table, recorded);
  } catch (error) {
    // The process is proven even without its pane.
    if (error instanceof TmuxError) return undefined;
    throw error;
  }
}
