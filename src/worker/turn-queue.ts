import type { TaskNotice } from "../agent/background/background-tasks.ts";
import { isTyped } from "../schema/inbox.ts";
import { SYSTEM_NAME } from "../schema/names.ts";
import type { InboxEntry } from "../team/mailbox/receive.ts";

/**
 * Characters of messages that one turn begins with, at most, where there are several: two of the longest, and less than half
 * of the smallest window. The rest is the next turn.
 */
const MAX_TURN = 200_000;

export interface TurnMaterial {
  readonly entries: readonly InboxEntry[];
  /** What hooks said that sent the agent on. */
  readonly instructions: readonly string[];
  /** What ended in the background. */
  readonly taskEnds: readonly TaskNotice[];
}

/**
 * What waits for a turn. A lead's idle notices after turns without a tool call are held back until nobody works any
 * more, then all that wait make one turn, once until somebody has called a tool again (protocol.md, Idle). News of the system
 * in plain words (a budget) makes no turn at all: it is read with the next.
 */
export class TurnQueue {
  readonly #role: "teammate" | "lead";
  #entries: InboxEntry[] = [];
  #held: InboxEntry[] = [];
  #news: InboxEntry[] = [];
  #remarks: string[] = [];
  #ended: TaskNotice[] = [];
  #heldTurnTaken = false;

  constructor(role: "teammate" | "lead") {
    this.#role = role;
  }

  add(entry: InboxEntry): void {
    if (this.#role === "lead" && isSystemNotice(entry)) {
      this.#news.push(entry);
      return;
    }
    if (this.#role === "lead" && isQuietNotice(entry)) {
      this.#held.push(entry);
      return;
    }
    this.#heldTurnTaken = false;
    // What one that has ended had to say came before its end.
    const ended = entry.protocol?.type === "teammate_terminated" ? entry.protocol.name : undefined;
    this.#entries.push(...this.#held.filter(({ message }) => message.from === ended), entry);
    this.#held = this.#held.filter(({ message }) => message.from !== ended);
  }

  addInstruction(text: string): void {
    this.#remarks.push(text);
  }

  /** Something ended in the background. */
  addTaskEnd(notice: TaskNotice): void {
    this.#ended.push(notice);
  }

  get isEmpty(): boolean {
    return [this.#entries, this.#remarks, this.#endings].every(({ length }) => length === 0);
  }

  /** What its agent has learned by itself in the meantime is told to nobody. */
  get #endings(): TaskNotice[] {
    return this.#ended.filter((notice) => notice.isNews());
  }

  /** Whether a shutdown request waits: it is taken at the next safe point of a running turn. */
  get hasShutdown(): boolean {
    return this.#entries.some(({ protocol }) => protocol?.type === "shutdown_request");
  }

  /** How many messages are held back. */
  get heldCount(): number {
    return this.#held.length + this.#news.length;
  }

  /** Whether idle notices wait for the moment when nobody works. */
  get hasHeldNotices(): boolean {
    return this.#held.length > 0 && !this.#heldTurnTaken;
  }

  /**
   * The next turn's input, or undefined when there is none.
   * @param planOpen a plan waits for its verdict: until it is there only that and a shutdown request are taken
   */
  take(planOpen: boolean, othersWork: boolean): TurnMaterial | undefined {
    if (planOpen) {
      const urgent = this.#entries.filter(countsDuringPlan);
      this.#entries = this.#entries.filter((entry) => !countsDuringPlan(entry));
      return urgent.length === 0 ? undefined : { entries: urgent, instructions: [], taskEnds: [] };
    }
    if (this.isEmpty) return othersWork || !this.hasHeldNotices ? undefined : this.#takeHeld();
    const material = {
      entries: [...this.#takeNews(), ...this.#takeEntries()],
      instructions: this.#remarks,
      taskEnds: this.#endings,
    };
    this.#remarks = [];
    this.#ended = [];
    return material;
  }

  /** As many as one turn takes, in order; a shutdown request and what a person typed wait for none of the rest. */
  #takeEntries(): InboxEntry[] {
    let length = 0;
    const isTaken = this.#entries.map(({ message, protocol }, i) => {
      length += message.text.length;
      return i === 0 || length <= MAX_TURN || protocol?.type === "shutdown_request" || isTyped(message);
    });
    const taken = this.#entries.filter((_, i) => isTaken[i]);
    this.#entries = this.#entries.filter((_, i) => !isTaken[i]);
    return taken;
  }

  #takeNews(): InboxEntry[] {
    const news = this.#news;
    this.#news = [];
    return news;
  }

  #takeHeld(): TurnMaterial {
    const entries = [...this.#takeNews(), ...this.#held];
    this.#held = [];
    this.#heldTurnTaken = true;
    return { entries, instructions: [], taskEnds: [] };
  }
}

/** Whether the system says something in plain words. */
export function isSystemNotice({ protocol, message }: InboxEntry): boolean {
  return protocol === undefined && message.from === SYSTEM_NAME;
}

function isQuietNotice({ protocol }: InboxEntry): boolean {
  return protocol?.type === "idle_notification" && protocol.toolCalls === 0;
}

function countsDuringPlan({ protocol }: InboxEntry): boolean {
  return protocol?.type === "shutdown_request" || protocol?.type === "plan_approval_response";
}

/** Shutdown requests that an agent has to answer: each once, under the id that it has. */
export class ShutdownRequests {
  readonly #open = new Set<string>();

  add(requestId: string): void {
    this.#open.add(requestId);
  }

  isOpen(requestId: string): boolean {
    return this.#open.has(requestId);
  }

  /** The answer has been sent. */
  close(requestId: string): void {
    this.#open.delete(requestId);
  }
}
