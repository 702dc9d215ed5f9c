import type { ModelError } from "../../agent/model/model.ts";
import { messageOf } from "../../errors.ts";
import { ownSecrets, redactText } from "../../os/redact.ts";
import type { ModelLimit } from "../../schema/budget.ts";
import { LEAD_NAME, SYSTEM_NAME } from "../../schema/names.ts";
import { eventMessageId, sendMessage } from "../../team/mailbox/send.ts";
import {
  clearAccountLimit,
  readAccountLimits,
  recordAccountLimit,
} from "../../team/records/account-limits.ts";
import { operand, optionWords } from "../../text/shell-quote.ts";
import { ManualBell } from "../../wakeup/bell.ts";
import type { WorkerContext } from "../context.ts";

/** Milliseconds until a call is tried again if the server does not say when the limit ends; doubled up to the maximum. */
const FIRST_RETRY_MS = 5 * 60_000;
const MAX_RETRY_MS = 30 * 60_000;
/** The random part of a wait: a share of the wait, at most `maxMs`, so that agents do not all continue at once. */
const JITTER = { share: 0.1, maxMs: 30_000 };

/** A model of an account, as its limits are recorded. */
export interface LimitedModel {
  /** A hash; never a key. */
  readonly account: string;
  /** The model's id. */
  readonly model: string;
}

/** A limit that lasts now. */
export interface LastingLimit extends ModelLimit {
  /** When its period began: the limits of a period are one event for a team. */
  readonly since: number;
}

/** Makes an agent wait while its account's limit lasts, however long, and notifies the lead once for all agents of the account. */
export class AccountLimitWait {
  readonly #context: WorkerContext;
  /** Rings for every waiting call: the agent and its subagents may wait at the same time. */
  readonly #recheck = new ManualBell(() => undefined);
  #waitingCount = 0;
  /** Limits that this agent has met, by account and model: if a record cannot be written, the agent must not retry in a loop. */
  readonly #met = new Map<string, LastingLimit>();
  /** Limits that were met before this time do not count: a person wants another attempt. */
  #resumedAt = 0;
  #hasStoppedTurn = false;
  /** How many times a person has resumed this agent. */
  #resumes = 0;
  /** How many attempts in a row met a limit without a known end. */
  #unknownInARow = 0;

  constructor(context: WorkerContext) {
    this.#context = context;
  }

  /** Whether a turn ended here for a shutdown request, and no call has succeeded since: the agent cannot answer one. */
  get hasStoppedTurn(): boolean {
    return this.#hasStoppedTurn;
  }

  /** Returns the limit of a model that lasts now; undefined if it can be called. Never rejects. */
  async limitOf(which: LimitedModel): Promise<LastingLimit | undefined> {
    const { ref, clock, notifications } = this.#context;
    let limit = this.#met.get(keyOf(which));
    await notifications.attempt(async () => {
      const known = readAccountLimits(ref.home, which.account);
      const recorded = known?.models[which.model];
      if (known !== undefined && recorded !== undefined && recorded.at >= (limit?.at ?? 0))
        limit = { ...recorded, since: known.since };
    });
    const lasts = limit !== undefined && limit.until > clock.now() && limit.at > this.#resumedAt;
    return lasts ? limit : undefined;
  }

  /** Records a limit that a call has met. Never rejects. */
  async met(which: LimitedModel, error: ModelError): Promise<void> {
    const { ref, clock, notifications } = this.#context;
    const at = clock.now();
    const isKnown = error.resumeAt !== undefined;
    const until = error.resumeAt ?? nextTry(at, this.#unknownInARow);
    this.#unknownInARow = isKnown ? 0 : this.#unknownInARow + 1;
    const limit = { at, until, isKnown, reason: redactText(messageOf(error), ownSecrets()) };
    this.#met.set(keyOf(which), { ...limit, since: at });
    await notifications.attempt(() => recordAccountLimit(ref.home, which.account, which.model, limit));
  }

  /** Removes the record of a limit after a successful call. Never rejects. */
  async passed(which: LimitedModel): Promise<void> {
    const { ref, notifications } = this.#context;
    this.#unknownInARow = 0;
    this.#hasStoppedTurn = false;
    this.#met.delete(keyOf(which));
    await notifications.attempt(() => clearAccountLimit(ref.home, which.account, which.model));
  }

  /**
   * Notifies the lead and the person of a limit. All agents of the account send it under one id, so that it is one message even if
   * the first agent was killed before it could send it. Never rejects.
   * @param what the agent's activity
   */
  async notify({ account }: LimitedModel, limit: LastingLimit, what: string): Promise<void> {
    const { ref, name, notifications, view } = this.#context;
    const notice = limitNotice(account, limit, what);
    await notifications.attempt(() => sendMessage(ref, notice));
    // Only the agent that met the limit first asks for attention. A running lead alerts the person itself, even to its own message.
    const isFirst = limit.since === limit.at && [...this.#met.values()].some(({ at }) => at === limit.at);
    if (isFirst && name !== LEAD_NAME) view.waiting(notice.text, "lead");
    else view.note(what);
  }

  /**
   * Waits until a limit ends or a person resumes the agent. Returns early if the signal aborts. A shutdown request interrupts the
   * running turn: no model can answer it.
   * @param autoResume if it returns false, only a person ends the wait
   * @param isBackground the call is not part of the running turn: it waits until the agent ends
   */
  async wait(
    limit: ModelLimit,
    signal: AbortSignal,
    autoResume: () => boolean,
    isBackground = false,
  ): Promise<void> {
    const { clock, queue, runningTurn } = this.#context;
    const at = continueAt(limit, clock.now());
    const resumes = this.#resumes;
    this.#waitingCount += 1;
    this.#pause(limit, autoResume());
    try {
      while (!signal.aborted && this.#resumes === resumes) {
        // A person's turn that is not followed yet is not interrupted, so its call continues to wait.
        if (!isBackground && (queue.hasShutdown || runningTurn.answersShutdown)) {
          this.#hasStoppedTurn = true;
          runningTurn.interrupt();
        }
        const leftMs = at - clock.now();
        if (leftMs <= 0 && autoResume()) break;
        await this.#recheck.wait(leftMs > 0 ? { signal, timeoutMs: leftMs } : { signal });
      }
    } finally {
      this.#waitingCount -= 1;
      if (!signal.aborted) this.#resume();
    }
  }

  /** Lets waiting calls try again at once. */
  resumeNow(): void {
    this.#resumedAt = this.#context.clock.now();
    this.#resumes += 1;
    this.recheck();
  }

  /** Lets waiting calls read the clock and the settings again: no timer runs while the computer sleeps. */
  recheck(): void {
    if (this.#waitingCount > 0) this.#recheck.ring();
  }

  /** Describes what a limit means for this agent, as the rest of a sentence. */
  sentence(limit: ModelLimit, autoResume: boolean): string {
    return limitSentence(this.#context, limit, autoResume);
  }

  /** The same, if another model is used meanwhile. */
  meanwhile(limit: ModelLimit, model: string): string {
    const when = timeOfDay(limit.until, limit.at);
    return `${this.#context.name} continues with ${model} ${limit.isKnown ? `until ${when}` : "meanwhile"}`;
  }

  #pause(limit: ModelLimit, autoResume: boolean): void {
    const { status, events } = this.#context;
    status.reportLimit(limitActivity(limit, autoResume), limit.isKnown ? limit.until : undefined);
    if (this.#waitingCount === 1) events.record({ type: "agent", what: "paused" });
  }

  #resume(): void {
    if (this.#waitingCount > 0) return;
    const { status, events, view } = this.#context;
    if (status.state === "paused") status.report("resumed", "");
    events.record({ type: "agent", what: "resumed" });
    view.note("tries again after its account's limit");
  }
}

/** The message that notifies the lead of a limit. All agents of the account send it under one id. @param what the agent's activity */
export function limitNotice(account: string, limit: LastingLimit, what: string) {
  return {
    from: SYSTEM_NAME,
    to: LEAD_NAME,
    text: `The limit of the model's account is reached (${limit.reason.replace(/\.$/, "")}): ${what}`,
    messageId: eventMessageId("account-limit", account, String(limit.since)),
  };
}

/** Describes what a limit means for an agent, as the rest of a sentence. */
export function limitSentence(
  { ref, name }: Pick<WorkerContext, "ref" | "name">,
  limit: ModelLimit,
  autoResume: boolean,
): string {
  const words = name === LEAD_NAME ? optionWords("--team", ref.team) : operand(`${name}@${ref.team}`);
  const resume = `teams resume --now ${words}`;
  const when = timeOfDay(limit.until, limit.at);
  if (!autoResume) {
    const end = limit.isKnown ? ` (the limit ends at ${when})` : "";
    return `${name} is paused until a person resumes it${end}: ${resume}`;
  }
  return limit.isKnown
    ? `${name} is paused until ${when}, and then continues automatically; to continue now: ${resume}`
    : `${name} is paused until the next attempt at ${when}; to continue now: ${resume}`;
}

/** The activity of an agent that waits for the end of a limit. A limit without a known end has no next attempt without auto-resume. */
export function limitActivity(limit: ModelLimit, autoResume: boolean): string {
  const when = timeOfDay(limit.until, limit.at);
  const next = autoResume ? `, next attempt at ${when}` : "";
  const end = limit.isKnown ? `, until ${when}` : next;
  return `account limit${end}${autoResume ? "" : "; waits for teams resume --now"}`;
}

/** Returns when to try again after a limit whose end is unknown. @param attempts how many earlier attempts in a row met it */
export function nextTry(at: number, attempts: number): number {
  return at + Math.min(FIRST_RETRY_MS * 2 ** attempts, MAX_RETRY_MS);
}

/** Returns when an agent continues after a limit: agents of one account must not all continue at once. */
export function continueAt({ until }: Pick<ModelLimit, "until">, now: number): number {
  const span = Math.max(0, until - now);
  return until + Math.random() * Math.min(span * JITTER.share, JITTER.maxMs);
}

function keyOf({ account, model }: LimitedModel): string {
  return `${account} ${model}`;
}

/** `14:30`; with the date if it is not within half a day. In the agent's time zone. */
function timeOfDay(at: number, now: number): string {
  const date = new Date(at);
  const two = (part: number): string => String(part).padStart(2, "0");
  const time = `${two(date.getHours())}:${two(date.getMinutes())}`;
  if (Math.abs(at - now) < 12 * 3_600_000) return time;
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${time}`;
}
