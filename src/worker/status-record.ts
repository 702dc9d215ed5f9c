import { TeamError } from "../errors.ts";
import type { Clock } from "../os/clock.ts";
import { ownSecrets, redactText } from "../os/redact.ts";
import type { ServerWatchRecord, StatusRecord } from "../schema/status.ts";
import { addTokens, NO_TOKENS, sumOf, type TokenCount } from "../schema/tokens.ts";
import { writeStatus } from "../team/records/write-records.ts";
import type { TeamRef } from "../team/ref.ts";
import { nextState, reportedState, type WorkerEvent, type WorkerState } from "./states.ts";

/** Keeps `run/<agent>/status.json` true: what the agent says of itself (architecture.md rule 6). */
export interface StatusKeeper {
  /** Where it stands in its work, whatever permissions are open beside that. */
  readonly state: WorkerState;
  /** @param messages how many a turn that starts begins with */
  happened(event: WorkerEvent, activity?: string, messages?: number): void;
  doing(activity: string): void;
  /** @param open what waits for a person's yes or no now, oldest first: told instead of what goes on, as long as there is any */
  asks(open: readonly string[]): void;
  /** A turn is over, with so much still at work in the background. */
  leaves(background: number): void;
  /** @param costUsd in US dollars */
  spent(tokens: TokenCount, costUsd: number): void;
  /** What its conversation took in earlier processes, whose status is gone when it is started anew; a lesser count is no news. */
  hadSpent(tokens: TokenCount, costUsd: number): void;
  /** A task of this agent's was begun, ended or given away. */
  holds(taskId: string, mine: boolean): void;
  /** Its team, which was gone, is there again: what it says of itself is written once more. */
  again(): void;
  /** Which tmux servers this process watches. */
  watches(serverWatches: readonly ServerWatchRecord[]): void;
}

type StatusFacts = Pick<StatusRecord, "sessionId" | "transcript" | "process"> &
  Partial<
    Pick<
      StatusRecord,
      "instance" | "shared" | "paneId" | "panePid" | "paneProcStart" | "server" | "bell" | "lifeline"
    >
  >;

/** Characters of an activity that are kept: one line of a sidebar, and some. */
const MAX_ACTIVITY = 200;

/**
 * Writes the record at once, so that it is there before readiness is announced.
 * @param last what an earlier process of this agent said at its end
 * @param isOver nobody counts with this agent any more: nothing is written then
 */
export function createStatusKeeper(
  ref: TeamRef,
  agent: string,
  facts: StatusFacts,
  last: StatusRecord | undefined,
  clock: Clock,
  onState: (state: WorkerState, taskIds: readonly string[]) => void = () => undefined,
  isOver: () => boolean = () => false,
): StatusKeeper {
  const now = clock.now();
  const isAgain = last?.instance !== undefined && last.instance === facts.instance;
  let record: StatusRecord & { state: WorkerState } = {
    ...facts,
    ...(isAgain ? { before: last.process } : {}),
    state: "starting",
    activity: "",
    taskIds: [],
    // What earlier processes of this agent spent counts on, also in another conversation: its team pays for all of it.
    tokens: last?.tokens ?? NO_TOKENS,
    costUsd: last?.costUsd ?? 0,
    since: now,
    startedAt: now,
    lastActivityAt: now,
  };
  let teamGone = false;
  const own = { state: record.state, activity: "" };
  let open: readonly string[] = [];
  /** What is told of where it stands and what it does. */
  const told = (): Partial<typeof record> => {
    const state = reportedState(own.state, open.length);
    const since = state === record.state ? record.since : clock.now();
    const [oldest] = open;
    const activity = oneLine(oldest === undefined ? own.activity : `asks: ${oldest}`);
    return { state, since, activity, resting: own.state === "idle" };
  };
  const write = (patch: Partial<typeof record>): void => {
    const before = record;
    record = { ...record, ...patch, lastActivityAt: clock.now() };
    if (record.state !== before.state || record.taskIds !== before.taskIds)
      onState(record.state, record.taskIds);
    if (teamGone || isOver()) return;
    try {
      writeStatus(ref, agent, record);
    } catch (error) {
      if (!(error instanceof TeamError && error.code === "TEAM_NOT_FOUND")) throw error;
      // Nobody is left to read it; the worker ends when its mail says the same.
      teamGone = true;
    }
  };
  write({});
  return {
    get state() {
      return own.state;
    },
    happened(event, activity, messages) {
      own.state = nextState(own.state, event);
      if (activity !== undefined) own.activity = activity;
      const agreed = event === "stop_agreed" ? { agreedToStop: true } : {};
      write({ ...told(), ...agreed, ...inTurn(event, messages) });
    },
    doing(activity) {
      own.activity = activity;
      write(told());
    },
    asks(now) {
      open = now;
      write(told());
    },
    leaves(background) {
      if (background !== (record.background ?? 0)) write({ background });
    },
    spent(tokens, costUsd) {
      write({ tokens: addTokens(record.tokens, tokens), costUsd: record.costUsd + costUsd });
    },
    hadSpent(tokens, costUsd) {
      if (sumOf(tokens) > sumOf(record.tokens)) write({ tokens, costUsd });
    },
    holds(taskId, mine) {
      const others = record.taskIds.filter((id) => id !== taskId);
      write({ taskIds: mine ? [...others, taskId] : others });
    },
    again() {
      teamGone = false;
      write({});
    },
    watches(serverWatches) {
      write({ serverWatches: [...serverWatches] });
    },
  };
}

/** A worker that ends has no turn any more, also where it does not wait for the turn's own end. */
function inTurn(event: WorkerEvent, messages = 0): Pick<StatusRecord, "inTurn" | "interrupted"> {
  if (event === "turn_started") return { inTurn: messages, interrupted: false };
  if (event === "turn_interrupted") return { inTurn: 0, interrupted: true };
  return ["turn_ended", "turn_ended_asking", "ended"].includes(event) ? { inTurn: 0 } : {};
}

/** Masked before it is cut: half of a secret would not be known as one. */
function oneLine(text: string): string {
  return redactText(text, ownSecrets()).replace(/\s+/g, " ").trim().slice(0, MAX_ACTIVITY);
}
