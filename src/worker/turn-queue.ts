import type { Agent } from "../agent/agent.ts";
import type { TaskNotice } from "../agent/background/background-tasks.ts";
import { isTyped } from "../schema/inbox.ts";
import { SYSTEM_NAME } from "../schema/names.ts";
import type { InboxEntry } from "../team/mailbox/receive.ts";
import type { WakeSignal } from "./lifecycle.ts";
import type { TurnSummary } from "./turn/idle-notice.ts";

/** Returns the result of a turn that a person began in the agent's own screen. @param signal interrupts the turn */
export type FollowTurn = (signal: AbortSignal) => Promise<TurnSummary>;

/**
 * Maximum total length of the messages of one turn, in characters: two of the longest messages, and less than half of the smallest
 * context window. The next turn takes the rest.
 */
const MAX_TURN_CHARACTERS = 200_000;

/** The parts of the next turn. */
export interface TurnMaterial {
  readonly entries: readonly InboxEntry[];
  /** Texts of hooks that make the agent continue, and of this program. */
  readonly instructions: readonly string[];
  /** Background tasks that have ended. */
  readonly taskEnds: readonly TaskNotice[];
}

/** Something that a person does to the agent itself, between two turns. */
export interface AgentAction {
  /** The activity in the agent's status meanwhile. */
  readonly activity: string;
  /** @param signal aborts when the person interrupts it @throws the reason if it is not possible */
  act(agent: Agent, signal: AbortSignal): Promise<void>;
}

/**
 * Input that waits for a turn. For a lead, idle notices after turns without a tool call are held until no teammate works; then
 * all held notices together start one turn. The next such turn needs another input first (protocol.md, Idle). A system notice
 * in plain text (a budget) starts no turn: the next turn reads it.
 */
export class TurnQueue {
  readonly #role: "teammate" | "lead";
  #entries: InboxEntry[] = [];
  #held: InboxEntry[] = [];
  #systemNotices: InboxEntry[] = [];
  #instructions: string[] = [];
  #forNext: string[] = [];
  #taskEnds: TaskNotice[] = [];
  #ownTurns: FollowTurn[] = [];
  #actions: AgentAction[] = [];
  #alert: string | undefined;
  #heldTurnTaken = false;

  constructor(role: "teammate" | "lead") {
    this.#role = role;
  }

  add(entry: InboxEntry): void {
    if (this.#role === "lead" && isSystemNotice(entry)) {
      this.#systemNotices.push(entry);
      return;
    }
    if (this.#role === "lead" && isQuietNotice(entry)) {
      this.#held.push(entry);
      return;
    }
    this.#heldTurnTaken = false;
    // A member's notices come before the notice of its end.
    const ended = entry.protocol?.type === "teammate_terminated" ? entry.protocol.name : undefined;
    this.#entries.push(...this.#held.filter(({ message }) => message.from === ended), entry);
    this.#held = this.#held.filter(({ message }) => message.from !== ended);
  }

  /** Drops the notices that a teammate is idle or has ended; its messages stay. */
  dropNotices(): void {
    this.#held = this.#held.filter((entry) => !isWordless(entry));
    this.#entries = this.#entries.filter((entry) => !isWordless(entry));
  }

  addInstruction(text: string, wake: WakeSignal): void {
    this.#instructions.push(text);
    wake.set();
  }

  /** Adds an instruction that starts no turn. */
  addToNext(text: string): void {
    this.#forNext.push(text);
  }

  /** Removes the messages with these keys. @returns the keys of the removed messages; the others were not waiting */
  drop(keys: ReadonlySet<string>): readonly string[] {
    const dropped = this.#entries.filter(({ key }) => keys.has(key));
    this.#entries = this.#entries.filter(({ key }) => !keys.has(key));
    return dropped.map(({ key }) => key);
  }

  addTaskEnd(notice: TaskNotice, wake: WakeSignal): void {
    this.#taskEnds.push(notice);
    wake.set();
  }

  /** Adds a turn that began without this worker: a person typed into the agent's own screen. */
  addOwnTurn(follow: FollowTurn, wake: WakeSignal): void {
    this.#ownTurns.push(follow);
    wake.set();
  }

  /** Adds an action of a person, which goes before all other input. */
  addAction(action: AgentAction, wake: WakeSignal): void {
    this.#actions.push(action);
    wake.set();
  }

  takeAction(): AgentAction | undefined {
    return this.#actions.shift();
  }

  /** Keeps the newest alert of a program whose turn ends are unseen. */
  addAlert(text: string, wake: WakeSignal): void {
    this.#alert = text;
    wake.set();
  }

  takeAlert(): string | undefined {
    const alert = this.#alert;
    this.#alert = undefined;
    return alert;
  }

  takeOwnTurn(): FollowTurn | undefined {
    return this.#ownTurns.shift();
  }

  get isEmpty(): boolean {
    return [this.#entries, this.#instructions, this.#unseenTaskEnds, this.#ownTurns].every(
      ({ length }) => length === 0,
    );
  }

  /** Ends of background tasks that the agent has not seen itself. */
  get #unseenTaskEnds(): TaskNotice[] {
    return this.#taskEnds.filter((notice) => notice.isNews());
  }

  /** Whether a shutdown request waits: a running turn ends for it at its next safe point. */
  get hasShutdown(): boolean {
    return this.#entries.some(({ protocol }) => protocol?.type === "shutdown_request");
  }

  /** Whether a typed line waits. */
  get hasTyped(): boolean {
    return this.#entries.some(({ message }) => isTyped(message));
  }

  /** Number of messages that start no turn now. */
  get heldCount(): number {
    return this.#held.length + this.#systemNotices.length;
  }

  /** Whether idle notices wait until no teammate works. */
  get hasHeldNotices(): boolean {
    return this.#held.length > 0 && !this.#heldTurnTaken;
  }

  /**
   * Takes the input of the next turn; undefined without any.
   * @param isPlanOpen a plan waits for its verdict: only the verdict and a shutdown request are taken
   */
  take(isPlanOpen: boolean, isTeamWorking: boolean): TurnMaterial | undefined {
    if (isPlanOpen) {
      const urgent = this.#entries.filter(isUrgentDuringPlan);
      this.#entries = this.#entries.filter((entry) => !isUrgentDuringPlan(entry));
      return urgent.length === 0 ? undefined : { entries: urgent, instructions: [], taskEnds: [] };
    }
    if (this.isEmpty) return isTeamWorking || !this.hasHeldNotices ? undefined : this.#takeHeld();
    const material = {
      entries: [...this.#takeSystemNotices(), ...this.#takeEntries()],
      instructions: [...this.#forNext, ...this.#instructions],
      taskEnds: this.#unseenTaskEnds,
    };
    this.#forNext = [];
    this.#instructions = [];
    this.#taskEnds = [];
    return material;
  }

  /** Takes as many as fit into one turn, in order; shutdown requests and typed lines are always taken. */
  #takeEntries(): InboxEntry[] {
    let length = 0;
    const isTaken = this.#entries.map(({ message, protocol }, i) => {
      length += message.text.length;
      return (
        i === 0 || length <= MAX_TURN_CHARACTERS || protocol?.type === "shutdown_request" || isTyped(message)
      );
    });
    const taken = this.#entries.filter((_, i) => isTaken[i]);
    this.#entries = this.#entries.filter((_, i) => !isTaken[i]);
    return taken;
  }

  #takeSystemNotices(): InboxEntry[] {
    const notices = this.#systemNotices;
    this.#systemNotices = [];
    return notices;
  }

  #takeHeld(): TurnMaterial {
    const entries = [...this.#takeSystemNotices(), ...this.#held];
    this.#held = [];
    this.#heldTurnTaken = true;
    return { entries, instructions: [], taskEnds: [] };
  }
}

/** Whether this is a plain text of the system. */
export function isSystemNotice({ protocol, message }: InboxEntry): boolean {
  return protocol === undefined && message.from === SYSTEM_NAME;
}

function isQuietNotice({ protocol }: InboxEntry): boolean {
  return protocol?.type === "idle_notification" && protocol.toolCalls === 0;
}

/** Whether a message is a notice without any text that a teammate wrote. */
function isWordless({ protocol }: InboxEntry): boolean {
  if (protocol?.type === "teammate_terminated") return true;
  return protocol?.type === "idle_notification" && !protocol.result && !protocol.failureReason;
}

function isUrgentDuringPlan({ protocol }: InboxEntry): boolean {
  return protocol?.type === "shutdown_request" || protocol?.type === "plan_approval_response";
}

/** Ids of the shutdown requests that the agent has not answered. */
export class ShutdownRequests {
  readonly #open = new Set<string>();
  readonly #onChange: (isAsked: boolean) => void;

  /** @param onChange called with whether a request is open */
  constructor(onChange: (isAsked: boolean) => void) {
    this.#onChange = onChange;
  }

  add(requestId: string): void {
    this.#open.add(requestId);
    this.#onChange(true);
  }

  isOpen(requestId: string): boolean {
    return this.#open.has(requestId);
  }

  /** Id of the newest open request. */
  get newest(): string | undefined {
    return [...this.#open].at(-1);
  }

  /** The turn with the requests has ended without an answer: the agent continues to work, and may still answer. */
  leaveUnanswered(): void {
    this.#onChange(false);
  }

  /** An answer also settles the requests before it: the model answers only the newest. */
  close(requestId: string): void {
    const settled = [...this.#open].slice(0, [...this.#open].indexOf(requestId) + 1);
    for (const id of settled) this.#open.delete(id);
    this.#onChange(this.#open.size > 0);
  }
}
