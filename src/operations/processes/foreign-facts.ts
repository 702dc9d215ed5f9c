import { transcriptEnd } from "../../adapter/inbox/claude-transcript.ts";
import { reportedLimit } from "../../adapter/reported-limit.ts";
import { livenessOf } from "../../os/process/identity.ts";
import { startMilliseconds } from "../../os/process/started-with.ts";
import type { TeamConfig, TeamMember } from "../../schema/config.ts";
import { readMetadata } from "../../schema/member-metadata.ts";
import type { HookRecord } from "../../schema/status.ts";
import { foreignSigns } from "../../team/mailbox/foreign-signs.ts";
import {
  type ForeignFacts,
  type ForeignVerdict,
  judgeForeign,
  type ReportedTurn,
  type TurnEnd,
} from "../../team/members/judge-foreign.ts";
import { HOOK_STATES } from "../../team/members/judge-liveness.ts";
import { readForeign } from "../../team/records/foreign-record.ts";
import { readHook } from "../../team/records/hook-record.ts";
import { readStatus } from "../../team/records/read-records.ts";
import type { TeamRef } from "../../team/ref.ts";
import { listRequests } from "../../team/requests/requests.ts";
import { limitActivity } from "../../worker/gates/account-limit.ts";
import type { OperationContext } from "../context.ts";
import { type ForeignProof, isForeignMember, proveForeignMembers, recordedProof } from "./foreign-members.ts";

/**
 * Judges the foreign members of a team, by name.
 * @throws TeamError TEAM_NOT_FOUND
 */
export async function judgeForeignMembers(
  ctx: OperationContext,
  config: TeamConfig,
): Promise<ReadonlyMap<string, ForeignVerdict>> {
  const proofs = await proveForeignMembers(ctx, config);
  return new Map(
    config.members.flatMap((member) => {
      const proof = proofs.get(member.name);
      return proof === undefined ? [] : [[member.name, judgeWithLimit(factsOf(ctx, member, proof))] as const];
    }),
  );
}

/**
 * Returns the foreign members that count as alive, with what is proven of their processes. A member counts as alive until its end
 * is proven, unless it has never shown a sign: it took no message and sent none.
 */
export async function liveForeignMembers(
  ctx: OperationContext,
  config: TeamConfig,
): Promise<ReadonlyMap<string, ForeignProof>> {
  const proofs = await proveForeignMembers(ctx, config);
  const isLive = (member: TeamMember, proof: ForeignProof): boolean =>
    proof.alive ?? countsAsAlive(factsOf(ctx, member, proof));
  return new Map(
    config.members.flatMap((member) => {
      const proof = proofs.get(member.name);
      return proof !== undefined && isLive(member, proof) ? [[member.name, proof] as const] : [];
    }),
  );
}

/** Whether a foreign member counts as alive: its process is proven to run or, without any proof, it has shown a sign. */
export function countsAsAlive({ alive, isActive, taken, saidAt, turnEnds }: ForeignFacts): boolean {
  return alive ?? (isActive || taken.length > 0 || saidAt !== undefined || turnEnds.length > 0);
}

/**
 * Returns the facts about a foreign member from files alone, for callers that cannot wait: of its process, only what is recorded.
 * @returns undefined for a member that teams started
 */
export function recordedFacts(
  ctx: Pick<OperationContext, "ref" | "clock">,
  member: TeamMember,
): ForeignFacts | undefined {
  return isForeignMember(ctx.ref, member) ? factsOf(ctx, member, recordedProof(ctx.ref, member)) : undefined;
}

/** Why no key is pressed in a pane, as the end of a sentence: a key could answer such a dialog for the person. */
export const START_DIALOG = "a startup dialog may be open there (trust, login, API key, permissions)";

/**
 * Whether a member's program may still show a startup dialog: its session has not begun, or it is a foreign member that has
 * never shown a sign of one.
 */
export function mayShowStartDialog(ctx: OperationContext, member: TeamMember): boolean {
  const status = readStatus(ctx.ref, member.name);
  // After its end, the launch script asks in the pane whether to restart it.
  if (status !== undefined && livenessOf(status.process) === "dead") return false;
  if (status?.startDialog === true) return true;
  const showsOwnScreen = readMetadata(member, "ownScreen") === true && readMetadata(member, "typed") !== true;
  if (showsOwnScreen && (status === undefined || status.state === "starting")) return true;
  const facts = recordedFacts(ctx, member);
  if (facts === undefined) return false;
  const { isActive, taken, turnEnds, saidAt, reported, request } = facts;
  const hasSign = taken.length > 0 || turnEnds.length > 0 || saidAt !== undefined;
  return !hasSign && !isActive && reported === undefined && request === undefined;
}

export interface OwnInboxVerdict {
  readonly verdict: ForeignVerdict;
  readonly facts: ForeignFacts;
  readonly isInTurn: boolean;
  /** When the newest message was sent that it, or an earlier process, has taken; 0 for none. */
  readonly newestTaken: number;
}

/**
 * Judges a CLI that teams started, and that reads its inbox itself.
 * @param seen what its hooks reported last, when it was last seen to take a message, even during a turn, and when its process started
 */
export function judgeOwnInbox(
  ctx: OperationContext,
  member: TeamMember,
  seen: {
    readonly hook: HookRecord | undefined;
    readonly tookAt: number | undefined;
    readonly queuedAt: number | undefined;
    readonly startedAt: number;
    /** The ends of turns that were seen before: while a peer writes the inbox in place, they are missing there. */
    readonly turnEnds: readonly TurnEnd[];
  },
): OwnInboxVerdict {
  const { hook, tookAt, queuedAt = null, startedAt } = seen;
  // The hook of its start may report after it has taken its first message.
  const reportedAt = hook?.event === "started" ? startedAt : hook?.at;
  const facts = factsOf(ctx, member, { alive: null, why: "unseen" });
  const current = withOwnInterrupt(hook, {
    ...facts,
    alive: true,
    tookAt,
    queuedAt,
    reported: hook && reportedAt !== undefined ? { ...reportOfHook(hook), at: reportedAt } : undefined,
    interruptedAt: hook?.event === "interrupted" ? hook.at : undefined,
    // Without the signs of an earlier process, which may have agreed to stop and still stayed in the team.
    turnEnds: merged(seen.turnEnds, facts.turnEnds).filter(({ at }) => at >= startedAt),
    taken: facts.taken.filter((at) => at >= startedAt),
    agreedToStop: facts.agreedToStop && (facts.saidAt ?? 0) >= startedAt,
  });
  // A request may come from its background work.
  const { state } = judgeForeign({ ...current, request: undefined });
  const isInTurn = state === "running" || state === "needs-input";
  return { verdict: judgeForeign(current), facts: current, isInTurn, newestTaken: facts.taken.at(-1) ?? 0 };
}

function merged(seen: readonly TurnEnd[], now: readonly TurnEnd[]): readonly TurnEnd[] {
  const all = new Map([...seen, ...now].map((end) => [end.at, end]));
  return [...all.values()].sort((a, b) => a.at - b.at).slice(-MANY_ENDS);
}

/** Maximum number of turn ends that are kept; a verdict needs fewer. */
const MANY_ENDS = 20;

/** Judges a foreign member. It is paused, not failed, if its last turn hit an account limit that may still apply. */
export function judgeWithLimit(facts: ForeignFacts): ForeignVerdict {
  const verdict = judgeForeign(facts);
  const end = facts.turnEnds.at(-1);
  const limit =
    verdict.state === "failed" && end !== undefined ? reportedLimit(end.failure ?? "", end.at) : undefined;
  if (limit === undefined || end === undefined) return verdict;
  const { resumeAt: until } = limit;
  if (until === undefined) {
    const activity = `account limit; waits for teams resume --now (${end.failure})`;
    return { ...verdict, state: "paused", activity };
  }
  if (until <= facts.now) return verdict;
  const activity = limitActivity({ at: end.at, until, isKnown: true, reason: "" }, false);
  return { ...verdict, state: "paused", activity, pausedUntil: until };
}

const TURNS = { running: "working", "needs-input": "asking", idle: "resting" } as const;

function reportOfHook({ event, at, detail }: HookRecord): ReportedTurn {
  return { state: TURNS[HOOK_STATES[event]], at, detail, ...(event === "started" && { isStart: true }) };
}

/**
 * Adds the time at which a person interrupted the turn on the CLI's own screen: claude then sends no notice and calls no hook, but
 * records the interrupt in its transcript.
 */
function withOwnInterrupt(hook: HookRecord | undefined, facts: ForeignFacts): ForeignFacts {
  if (hook?.transcript === undefined) return facts;
  const { state } = judgeForeign({ ...facts, request: undefined });
  if (state !== "running" && state !== "needs-input") return facts;
  const { interruptedAt } = transcriptEnd(hook.transcript);
  if (interruptedAt === undefined || interruptedAt <= (facts.interruptedAt ?? 0)) return facts;
  return { ...facts, interruptedAt };
}

/** Returns the last report of a foreign member's hooks; a report of an earlier member or process does not count. */
function hookOf(ref: TeamRef, { name, joinedAt }: TeamMember, proof: ForeignProof): HookRecord | undefined {
  const hook = readHook(ref, name);
  if (hook === undefined || hook.at < joinedAt) return undefined;
  const startedAt = proof.alive === true ? startMilliseconds(proof.process.procStart) : undefined;
  return startedAt !== undefined && hook.at < startedAt - START_MS ? undefined : hook;
}

/** Milliseconds by which the recorded start of a process may be late. */
const START_MS = 1_000;

function factsOf(
  { ref, clock }: Pick<OperationContext, "ref" | "clock">,
  member: TeamMember,
  proof: ForeignProof,
): ForeignFacts {
  const { name, joinedAt, isActive = false } = member;
  const request = listRequests(ref).find(({ from, at }) => from === name && at >= joinedAt);
  const record = readForeign(ref, name);
  const hook = hookOf(ref, member, proof);
  return withOwnInterrupt(hook, {
    alive: proof.alive,
    pid: proof.alive ? proof.process.pid : undefined,
    paneId: proof.alive ? proof.place?.paneId : undefined,
    ...foreignSigns(ref, member),
    request: request && { kind: request.kind, at: request.at, summary: request.summary },
    interruptedAt: record?.joinedAt === joinedAt ? record.interruptedAt : undefined,
    reported: hook && reportOfHook(hook),
    isActive,
    now: clock.now(),
  });
}
