import { messageOf, TeamError } from "../errors.ts";
import { after, type Clock } from "../os/clock.ts";
import { ownSecrets, redactText } from "../os/redact.ts";
import type { SpentAmount } from "../schema/budget.ts";
import type { AgentState, ServerWatchRecord, StatusRecord } from "../schema/status.ts";
import { addTokens, NO_TOKENS, sumOf, type TokenCount } from "../schema/tokens.ts";
import { writeStatus } from "../team/records/write-records.ts";
import type { TeamRef } from "../team/ref.ts";
import { shortened } from "../text/characters/cut-text.ts";
import { nextState, reportedState, type WorkerEvent, type WorkerState } from "./states.ts";

/**
 * Writes `run/<agent>/status.json`, the agent's report of itself. Never throws because of a failed write:
 * every change writes the whole record, and a failed write is repeated until it succeeds or the agent ends.
 */
export interface StatusKeeper {
  /** State of the work, without regard to open permission requests. */
  readonly state: WorkerState;
  /** Why the newest write failed; undefined if it did not. */
  readonly failure: unknown;
  /** @param messages number of messages in the input, if a turn starts */
  report(event: WorkerEvent, activity?: string, messages?: number): void;
  /** Records the state that another program's files and hooks report; writes nothing if it is unchanged. */
  reportPeer(peer: PeerReport): void;
  /** From now on, the end of a turn makes the state unknown: the program does not report it. */
  hideTurnEnds(): void;
  /** Reports that its program is running, which makes the agent ready. */
  programStarted(): void;
  setActivity(activity: string): void;
  /** Reports that the account's limit makes the agent wait. @param until when the limit ends, if that is known */
  reportLimit(activity: string, until: number | undefined): void;
  /** @param open summaries of the open permission requests, oldest first; the oldest replaces the activity in the record */
  setOpenRequests(open: readonly string[]): void;
  /** Shows the questions that its program asks a person. */
  setOpenQuestions(open: readonly string[]): void;
  /**
   * @param dialog of the agent's own screen, which only a person can answer; undefined without one
   * @param isStart whether the dialog precedes the session, or such a dialog may be open
   */
  setDialog(dialog: string | undefined, isStart?: boolean): void;
  /** Sets whether a shutdown request waits for the agent's answer. */
  setShutdownRequested(shutdownRequested: boolean): void;
  /** Sets how many background tasks continue after a turn. */
  setBackgroundCount(background: number): void;
  /** @param costUsd in US dollars */
  addSpent(tokens: TokenCount, costUsd: number): void;
  /** Sets the usage of the conversation in earlier processes, whose record may be gone. Ignored if it is less than recorded. */
  restoreSpent(tokens: TokenCount, costUsd: number): void;
  /** The usage of the agent's whole conversation. */
  readonly spent: SpentAmount;
  /** The agent's tasks in progress, the newest last. */
  readonly taskIds: readonly string[];
  /** Called when a task of this agent is started, completed, unassigned or assigned to another member. */
  setTaskHeld(taskId: string, isHeld: boolean): void;
  /** Writes the record again after its team was restored, perhaps in another directory. */
  teamRestored(): void;
  /** Sets which tmux servers this process watches. */
  setServerWatches(serverWatches: readonly ServerWatchRecord[]): void;
}

/** The state of a program that reads its inbox itself, as the process that started it judges it. */
export type PeerReport = Pick<
  StatusRecord,
  | "state"
  | "stateFrom"
  | "newestTaken"
  | "activity"
  | "version"
  | "agreedToStop"
  | "limited"
  | "pausedUntil"
  | "startDialog"
>;

type StatusFacts = Pick<StatusRecord, "sessionId" | "transcript" | "process"> &
  Partial<
    Pick<
      StatusRecord,
      | "instance"
      | "shared"
      | "awaitsProgram"
      | "paneId"
      | "panePid"
      | "paneProcStart"
      | "server"
      | "bell"
      | "lifeline"
    >
  >;

interface StatusHooks {
  /** Called if the state or the held tasks change. Must not throw. */
  onState?(state: AgentState, taskIds: readonly string[]): void;
  /** True once the agent counts as ended: nothing is written any more. */
  isOver?(): boolean;
  /** Receives the first failure of consecutive failed writes. Must not throw. */
  onProblem?(text: string): void;
}

/** A reported event ends the wait for a limit. */
const NO_LIMIT = { limited: undefined, pausedUntil: undefined };

/** Milliseconds after which a failed write is repeated. */
const RETRY_MS = 1_000;

/** Maximum length of an activity in characters: more than one line of a sidebar. */
const MAX_ACTIVITY = 200;

/**
 * Writes the record immediately, so that it exists before readiness is announced. The write that reports readiness is synced,
 * so the record of this start survives a power cut.
 * @param last the last record of an earlier process of this agent
 */
export function createStatusKeeper(
  ref: TeamRef,
  agent: string,
  facts: StatusFacts,
  last: StatusRecord | undefined,
  clock: Clock,
  hooks: StatusHooks = {},
): StatusKeeper {
  const now = clock.now();
  const isSameInstance = last?.instance !== undefined && last.instance === facts.instance;
  let record: StatusRecord = {
    ...facts,
    ...(isSameInstance ? { before: last.process } : {}),
    state: "starting",
    activity: "",
    taskIds: [],
    // Includes earlier processes of this agent, even with another conversation: the team's budget covers all of them.
    tokens: last?.tokens ?? NO_TOKENS,
    costUsd: last?.costUsd ?? 0,
    since: now,
    startedAt: now,
    lastActivityAt: now,
  };
  let teamGone = false;
  let failure: unknown;
  /** False for the first write, whose failure ends the start, and once the agent has ended. */
  let isRetried = false;
  let cancelRetry: (() => void) | undefined;
  const work: { state: WorkerState; activity: string } = { state: "starting", activity: "" };
  let wasPausedInTurn = false;
  let open: readonly string[] = [];
  let questions: readonly string[] = [];
  let dialog: string | undefined;
  let hidesTurnEnds = false;
  const reported = (): Partial<typeof record> => {
    const asked = [...open, ...questions].map((request) => `asks: ${request}`);
    const waits = dialog === undefined ? asked : [dialog];
    const state = reportedState(work.state, waits.length);
    const since = state === record.state ? record.since : clock.now();
    const activity = oneLine(waits[0] ?? work.activity);
    return { state, since, activity, resting: isBetweenTurns(work.state, wasPausedInTurn) };
  };
  const move = (event: WorkerEvent): void => {
    if (work.state !== "paused") wasPausedInTurn = !isBetweenTurns(work.state, false);
    work.state = nextState(work.state, event);
  };
  const write = (patch: Partial<typeof record>, sync = false): void => {
    const before = record;
    record = { ...record, ...patch, lastActivityAt: clock.now() };
    if (record.state !== before.state || record.taskIds !== before.taskIds)
      hooks.onState?.(record.state, record.taskIds);
    save(sync);
  };
  const save = (sync: boolean): void => {
    cancelRetry?.();
    cancelRetry = undefined;
    if (teamGone || hooks.isOver?.()) return;
    try {
      writeStatus(ref, agent, record, { sync });
      failure = undefined;
    } catch (error) {
      // No process reads the status of a deleted team; the worker ends when its inbox reader finds the team gone.
      teamGone = error instanceof TeamError && error.code === "TEAM_NOT_FOUND";
      const isFirst = failure === undefined;
      failure = teamGone ? undefined : error;
      if (isFirst && !teamGone) hooks.onProblem?.(notWritten(agent, error));
      // An idle agent writes nothing more: without a retry it could look busy until its next turn.
      if (!teamGone && isRetried) cancelRetry = after(RETRY_MS, () => save(sync));
    }
  };
  write({});
  isRetried = true;
  return {
    get state() {
      return work.state;
    },
    get failure() {
      return failure;
    },
    report(event, activity, messages) {
      move(hidesTurnEnds ? withUnseenEnd(event) : event);
      if (activity !== undefined) work.activity = activity;
      if (event === "ended") isRetried = false;
      const agreed = event === "stop_agreed" ? { agreedToStop: true } : {};
      const source = hidesTurnEnds ? { stateFrom: sourceOf(work.state) } : {};
      const patch = { ...reported(), ...agreed, ...inTurn(event, messages), ...source };
      write(work.state === "paused" ? patch : { ...patch, ...NO_LIMIT }, event === "ready");
    },
    reportPeer(peer) {
      const next = { ...peer, activity: oneLine(peer.activity), ownInbox: true };
      const keys = Object.keys(next) as (keyof typeof next)[];
      if (keys.every((key) => record[key] === next[key])) return;
      const since = next.state === record.state ? record.since : clock.now();
      // Such a program is paused only between turns: the limit of its account ended the turn.
      const resting = next.state === "idle" || next.state === "paused";
      write({ ...next, since, resting }, record.ownInbox === undefined);
    },
    reportLimit(activity, until) {
      move("limited");
      if (work.state !== "paused") return;
      work.activity = activity;
      write({ ...reported(), limited: true, pausedUntil: until });
    },
    programStarted() {
      if (record.awaitsProgram === true) write({ awaitsProgram: undefined }, true);
    },
    hideTurnEnds() {
      hidesTurnEnds = true;
    },
    setActivity(activity) {
      work.activity = activity;
      write(reported());
    },
    setOpenRequests(requests) {
      open = requests;
      write(reported());
    },
    setOpenQuestions(next) {
      questions = next;
      write(reported());
    },
    setDialog(next, isStart = false) {
      dialog = next;
      write({ ...reported(), startDialog: isStart || undefined });
    },
    setShutdownRequested(shutdownRequested) {
      if (shutdownRequested !== (record.shutdownRequested ?? false)) write({ shutdownRequested });
    },
    setBackgroundCount(background) {
      if (background !== (record.background ?? 0)) write({ background });
    },
    addSpent(tokens, costUsd) {
      write({ tokens: addTokens(record.tokens, tokens), costUsd: record.costUsd + costUsd });
    },
    restoreSpent(tokens, costUsd) {
      if (sumOf(tokens) > sumOf(record.tokens)) write({ tokens, costUsd });
    },
    get spent() {
      return { tokens: sumOf(record.tokens), costUsd: record.costUsd };
    },
    get taskIds() {
      return record.taskIds;
    },
    setTaskHeld(taskId, isHeld) {
      const others = record.taskIds.filter((id) => id !== taskId);
      write({ taskIds: isHeld ? [...others, taskId] : others });
    },
    teamRestored() {
      teamGone = false;
      const { bell, lifeline } = ref.paths.agent(agent);
      write(record.bell === undefined ? {} : { bell, lifeline });
    },
    setServerWatches(serverWatches) {
      write({ serverWatches: [...serverWatches] });
    },
  };
}

function notWritten(agent: string, error: unknown): string {
  return `the status of ${agent} could not be written (${messageOf(error)}); ${agent} continues, and tries again every second`;
}

/** Whether an agent is between turns: `needs-input` is the state of its work only after a turn that asked a question. */
function isBetweenTurns(state: WorkerState, wasPausedInTurn: boolean): boolean {
  return state === "idle" || state === "needs-input" || (state === "paused" && !wasPausedInTurn);
}

/** Replaces the end of a turn for a program that does not report it: only the start of the turn, its taken input, was seen. */
function withUnseenEnd(event: WorkerEvent): WorkerEvent {
  return ["turn_ended", "turn_ended_asking", "turn_interrupted"].includes(event) ? "turn_unseen" : event;
}

function sourceOf(state: WorkerState): StatusRecord["stateFrom"] {
  return state === "idle" ? "signal" : undefined;
}

/** An ended worker has no turn, even if its turn did not report an end. */
function inTurn(event: WorkerEvent, messages = 0): Pick<StatusRecord, "inTurn" | "interrupted"> {
  if (event === "turn_started") return { inTurn: messages, interrupted: false };
  if (event === "turn_interrupted") return { inTurn: 0, interrupted: true };
  return ["turn_ended", "turn_ended_asking", "ended"].includes(event) ? { inTurn: 0 } : {};
}

/** Redacts before truncating: half of a secret would not be recognised. */
function oneLine(text: string): string {
  return shortened(redactText(text, ownSecrets()).replace(/\s+/g, " ").trim(), MAX_ACTIVITY);
}
