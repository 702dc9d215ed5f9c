import type { AgentState, StateSource } from "../../schema/status.ts";

/** A turn of a foreign member that has ended, by its idle notice. All times are milliseconds since the epoch. */
export interface TurnEnd {
  readonly at: number;
  /** Why the turn failed; undefined if it did not. */
  readonly failure?: string | undefined;
  /** A person or our interrupt ended it. */
  readonly interrupted?: boolean;
}

/** The last report of a hook of a member's program. */
export interface ReportedTurn {
  /** `asking`: its own screen asks a person something. */
  readonly state: "working" | "resting" | "asking";
  readonly at: number;
  /** Its session has begun, but it has reported no turn yet. */
  readonly isStart?: boolean;
  /** The running tool, or the question on its screen. */
  readonly detail?: string | undefined;
}

/** The facts about a member without our records, gathered from files and processes. */
export interface ForeignFacts {
  /** Whether its proven process runs; null without proof. */
  readonly alive: boolean | null;
  readonly pid?: number | undefined;
  readonly paneId?: string | undefined;
  /** Its last message to the lead approves a shutdown. */
  readonly agreedToStop: boolean;
  /** Its idle notices, oldest first. */
  readonly turnEnds: readonly TurnEnd[];
  /** Send times of the messages that start a turn and that it has taken from its inbox, oldest first. */
  readonly taken: readonly number[];
  /** Send time of the newest message that it has taken and that lets a waiting turn continue (an allowed call). */
  readonly continuedAt?: number | undefined;
  /** When it sent its newest message other than an idle notice. */
  readonly saidAt?: number | undefined;
  /** The number of messages that it has not taken. */
  readonly unread: number;
  /** Its oldest unanswered request. */
  readonly request?:
    | {
        readonly kind: "plan" | "permission" | "question";
        readonly at: number;
        readonly summary?: string;
      }
    | undefined;
  /** When our interrupt ended its turn, for which it sends no idle notice. */
  readonly interruptedAt?: number | undefined;
  /** When it was seen to take a message; only known if a process of teams watches its inbox. */
  readonly tookAt?: number | undefined;
  /** When it was last seen to take a message during a turn; null if it was not. Undefined if no process watches it. */
  readonly queuedAt?: number | null | undefined;
  /** The last report of our hooks; undefined if its program does not have them. */
  readonly reported?: ReportedTurn | undefined;
  /** The config says that it is in a turn. That is no proof: it may be stale after a lost change or an interrupt. */
  readonly isActive: boolean;
  /** The time of the verdict. */
  readonly now: number;
}

export interface ForeignVerdict extends Pick<ForeignFacts, "alive" | "pid" | "paneId"> {
  readonly state: AgentState;
  /** null if it is unknown. */
  readonly stateFrom: StateSource | null;
  /** Why its last turn failed. */
  readonly failure?: string;
  /** Its activity, as far as its hooks or its request show it. */
  readonly activity?: string;
  /** When its account's limit ends, if it is `paused` and that is known. */
  readonly pausedUntil?: number;
  /** When it last sent a message. */
  readonly lastSignAt?: number | undefined;
}

/** Judges a foreign member. Pure. */
export function judgeForeign(facts: ForeignFacts): ForeignVerdict {
  const { alive, pid, paneId, turnEnds, saidAt = NEVER, reported, request } = facts;
  const lastSignAt = Math.max(turnEnds.at(-1)?.at ?? NEVER, saidAt);
  const judged = stateOf(facts);
  const { state, stateFrom, failure } = judged;
  const hasDetail = stateFrom === "hook" && state !== "idle";
  const asked = stateFrom === "request" ? request?.summary : undefined;
  return {
    ...{ alive, pid, paneId },
    ...judged,
    activity: failure ?? (hasDetail ? reported?.detail : asked) ?? "",
    lastSignAt: Number.isFinite(lastSignAt) ? lastSignAt : undefined,
  };
}

/**
 * Returns the state of a foreign member. If it is proven to have ended, it has `exited` if it had agreed to, else `crashed`. Without
 * evidence it is `unknown`, even while a message waits that it has not taken: it may be in a turn, or show a dialog.
 */
function stateOf(facts: ForeignFacts): Pick<ForeignVerdict, "state" | "stateFrom" | "failure"> {
  const { alive, agreedToStop, turnEnds, reported, interruptedAt = NEVER } = facts;
  if (alive === false) return { state: agreedToStop ? "exited" : "crashed", stateFrom: "process" };
  if (agreedToStop) return { state: "stopping", stateFrom: "message" };
  const noticedAt = turnEnds.at(-1)?.at ?? NEVER;
  // A late hook of an end must not hide a message that was taken after that end.
  const isSameEnd =
    reported !== undefined && reported.at >= noticedAt && reported.at < noticedAt + SAME_END_MS;
  const restedAt = reported?.state === "resting" && !isSameEnd ? reported.at : NEVER;
  const restAt = Math.max(noticedAt, interruptedAt, restedAt);
  return stateInTurn(facts, restAt) ?? restOf(facts, restAt);
}

/** Returns the state of a member in a turn; undefined without a sign of one. @param restAt when its last turn ended */
function stateInTurn(facts: ForeignFacts, restAt: number): ReturnType<typeof stateOf> | undefined {
  const { request, reported, turnEnds, interruptedAt = NEVER } = facts;
  // A turn cannot end while it waits for a permission. The idle notice after a plan follows at once.
  if (request !== undefined && (request.kind === "plan" || request.at > restAt))
    return { state: "needs-input", stateFrom: "request" };
  if (reported !== undefined && reported.state !== "resting" && reported.at > restAt)
    return { state: reported.state === "asking" ? "needs-input" : "running", stateFrom: "hook" };
  // A member with hooks reports its turns by them; its messages prove no turn, because they may come from background work.
  const hasHooks = reported !== undefined;
  const continuedAt = hasHooks ? NEVER : (facts.continuedAt ?? NEVER);
  const takenAt = Math.max(facts.taken.at(-1) ?? NEVER, continuedAt, facts.tookAt ?? NEVER);
  if (takenAt > restAt) return { state: "running", stateFrom: "inbox" };
  // A script or a person may send messages and never an idle notice.
  if (!hasHooks && turnEnds.length > 0 && (facts.saidAt ?? NEVER) > restAt)
    return { state: "running", stateFrom: "message" };
  const isQueued = facts.queuedAt === undefined ? hasQueuedTurn(facts) : hasSeenQueuedTurn(facts);
  if (interruptedAt < restAt && isQueued) return { state: "running", stateFrom: "inbox" };
  return undefined;
}

/** Returns the state of a member that is in no turn. @param restAt when its last turn ended */
function restOf(facts: ForeignFacts, restAt: number): ReturnType<typeof stateOf> {
  const { turnEnds, reported, interruptedAt } = facts;
  const last = turnEnds.at(-1);
  const isInterrupted = interruptedAt === restAt || (last?.interrupted === true && last.at === restAt);
  // Its session has begun; its first message still waits, or it shows a dialog.
  const hasReportedTurn = reported !== undefined && reported.isStart !== true;
  const hasHadTurn =
    last !== undefined || facts.taken.length > 0 || facts.tookAt !== undefined || hasReportedTurn;
  if (facts.unread > 0 && !hasHadTurn) return { state: "unknown", stateFrom: "inbox" };
  if (reported !== undefined && last?.failure !== undefined && last.at >= restAt - SAME_END_MS)
    return { state: "failed", stateFrom: "notice", failure: last.failure };
  // The hook and the notice of one end come together.
  if (reported !== undefined && reported.at >= restAt - SAME_END_MS)
    return { state: "idle", stateFrom: isInterrupted ? "interrupt" : "hook" };
  if (facts.unread > 0 && reported === undefined) return { state: "unknown", stateFrom: "inbox" };
  if (restAt === NEVER) return { state: "unknown", stateFrom: null };
  if (isInterrupted) return { state: "idle", stateFrom: "interrupt" };
  if (last?.failure !== undefined) return { state: "failed", stateFrom: "notice", failure: last.failure };
  return { state: "idle", stateFrom: "notice" };
}

const NEVER = Number.NEGATIVE_INFINITY;
/** Milliseconds between the two reports of the end of one turn. */
export const SAME_END_MS = 2_000;

/** Milliseconds between two reads of its inbox by a peer (clis.md), with some room. */
const POLL_MS = 1_100;
/** Milliseconds after an idle notice in which a turn of queued messages needs no confirmation by the config. */
const UNCONFIRMED_MS = 10_000;

/**
 * Whether a turn began together with the last idle notice. A peer takes the messages that arrive during a turn at once, sends its
 * idle notice when that turn ends, and then starts a turn with all of them (seen with 2.1.34, 2.1.150 and 2.1.197). So messages
 * that were sent later than one poll after the first of their turn were in the queue. That is a guess: a person may have ended the
 * turn of the first message, and before its first notice a peer may not have read its inbox for a long time. So the config must confirm
 * it, which 2.1.150 and newer do within 0.1 s, and 2.1.34 does not.
 */
function hasQueuedTurn(facts: ForeignFacts): boolean {
  const { turnEnds, taken, isActive, interruptedAt = NEVER, now } = facts;
  const last = turnEnds.length - 1;
  const end = turnEnds[last]?.at;
  if (end === undefined) return false;
  const sentDuring = (turn: number): readonly number[] => {
    const to = turnEnds[turn]?.at ?? 0;
    const from = Math.max(turnEnds[turn - 1]?.at ?? NEVER, interruptedAt);
    return taken.filter((at) => at > from && at <= to);
  };
  const isQueued = (turn: number): boolean => {
    const [first = 0, ...later] = sentDuring(turn);
    return later.some((at) => at - first > POLL_MS);
  };
  // If the last turn began with queued messages, all that were sent during it are queued.
  const isLikely = isQueued(last) || (last > 0 && isQueued(last - 1) && sentDuring(last).length > 0);
  return isLikely && (isActive || (last > 0 && now - end < UNCONFIRMED_MS));
}

/**
 * Whether a turn is running with messages that were seen to be taken during the previous turn. It begins when that turn ends, and ends
 * with the next notice. Without a notice, as after a person pressed Escape, the config must confirm the turn after some time.
 */
function hasSeenQueuedTurn({ queuedAt, turnEnds, reported, isActive, now }: ForeignFacts): boolean {
  if (queuedAt === undefined || queuedAt === null) return false;
  const [noticed, ...later] = turnEnds.filter(({ at }) => at > queuedAt);
  const restedAt = reported?.state === "resting" && reported.at > queuedAt ? reported.at : undefined;
  const endAt = noticed?.at ?? restedAt;
  if (endAt === undefined || later.length > 0) return false;
  if (noticed !== undefined && restedAt !== undefined && restedAt > endAt + SAME_END_MS) return false;
  return isActive || now - endAt < UNCONFIRMED_MS;
}
