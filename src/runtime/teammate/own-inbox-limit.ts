import { reportedLimit } from "../../adapter/reported-limit.ts";
import { LIMIT_OVER } from "../../adapter/turns/open-turn.ts";
import { ownSecrets, redactText } from "../../os/redact.ts";
import { SYSTEM_NAME } from "../../schema/names.ts";
import { eventMessageId, sendMessage } from "../../team/mailbox/send.ts";
import type { ForeignFacts, ForeignVerdict } from "../../team/members/judge-foreign.ts";
import { continuesAfterLimit } from "../../team/members/peer-abilities.ts";
import {
  clearAccountLimit,
  readAccountLimits,
  recordAccountLimit,
} from "../../team/records/account-limits.ts";
import type { TeamRef } from "../../team/ref.ts";
import {
  continueAt,
  type LastingLimit,
  type LimitedModel,
  limitActivity,
  limitNotice,
  limitSentence,
  nextTry,
} from "../../worker/gates/account-limit.ts";
import type { PeerReport } from "../../worker/status-record.ts";

interface LimitedInbox {
  readonly ref: TeamRef;
  /** Of the member. */
  readonly name: string;
  readonly account: LimitedModel;
  /** Of the CLI; undefined if it is unknown. */
  readonly version: string | undefined;
  readonly autoResume: () => boolean;
}

/** Milliseconds after the end of a limit within which a CLI that continues on its own must do so: a second message would repeat its work. */
const OWN_RESUME_MS = 60_000;
/** Minimum milliseconds between two polls before the end of a limit. */
const MIN_MS = 100;

/** Lets a CLI that reads its inbox itself wait for the end of its account's limit, and continue then: on its own, or by a message. */
export class OwnInboxLimit {
  readonly #options: LimitedInbox;
  /** When the last polled turn ended. */
  #endedAt: number | undefined;
  /** Undefined if that turn met no limit, or may continue. */
  #limit: LastingLimit | undefined;
  /** When the CLI continues. */
  #continueAt = 0;
  /** How many turns in a row met a limit with an unknown end. */
  #unknownInARow = 0;
  /** Whether the account has a record of a limit that this CLI has met. */
  #isRecorded = false;

  constructor(options: LimitedInbox) {
    this.#options = options;
  }

  /** Continues the CLI if the limit that its last turn met has ended. @returns its report while the limit lasts */
  async poll(
    { state, stateFrom, failure = "" }: ForeignVerdict,
    { turnEnds }: ForeignFacts,
    now: number,
  ): Promise<PeerReport | undefined> {
    const at = turnEnds.at(-1)?.at;
    if (at === undefined) return undefined;
    if (at !== this.#endedAt) {
      this.#limit = state === "failed" ? await this.#met(failure, at) : undefined;
      if (this.#limit !== undefined)
        this.#continueAt = continueAt(this.#limit, now) + this.#graceMs(this.#limit);
      else if (state !== "failed" && stateFrom !== "interrupt") await this.#passed();
      if (this.#limit?.isKnown !== false) this.#unknownInARow = 0;
      this.#endedAt = at;
    }
    const limit = this.#limit;
    if (limit === undefined || state !== "failed") return undefined;
    const autoResume = this.#options.autoResume();
    if (this.#continueAt > now || !autoResume) return reportOf(limit, autoResume);
    await this.#continue(at);
    this.#limit = undefined;
    return undefined;
  }

  /** @returns milliseconds until the next poll */
  nextPoll(now: number, longestMs: number): number {
    return Math.min(longestMs, Math.max(MIN_MS, this.#continueAt - now));
  }

  async #met(failure: string, at: number): Promise<LastingLimit | undefined> {
    const { ref, name, account, autoResume } = this.#options;
    const reported = reportedLimit(failure, at);
    if (reported === undefined) return undefined;
    const isKnown = reported.resumeAt !== undefined;
    const until = reported.resumeAt ?? nextTry(at, this.#unknownInARow);
    const limit = { at, until, isKnown, reason: redactText(failure, ownSecrets()) };
    await recordAccountLimit(ref.home, account.account, account.model, limit);
    this.#isRecorded = true;
    const lasting = { ...limit, since: readAccountLimits(ref.home, account.account)?.since ?? at };
    const what = limitSentence({ ref, name }, lasting, autoResume());
    await sendMessage(ref, limitNotice(account.account, lasting, what));
    // Not before: a failure repeats all of this at the next poll.
    this.#unknownInARow += 1;
    return lasting;
  }

  /** Returns the milliseconds within which the CLI may continue on its own. It cannot if its server names no end of the limit. */
  #graceMs({ isKnown }: LastingLimit): number {
    return isKnown && continuesAfterLimit(this.#options.version) !== "no" ? OWN_RESUME_MS : 0;
  }

  /** Clears the record after a turn that met no limit, so that the next limit is reported. */
  async #passed(): Promise<void> {
    const { ref, account } = this.#options;
    if (!this.#isRecorded) return;
    await clearAccountLimit(ref.home, account.account, account.model);
    this.#isRecorded = false;
  }

  async #continue(at: number): Promise<void> {
    const { ref, name } = this.#options;
    const messageId = eventMessageId("limit-over", name, String(at));
    await sendMessage(ref, { from: SYSTEM_NAME, to: name, text: LIMIT_OVER, messageId });
  }
}

function reportOf(limit: LastingLimit, autoResume: boolean): PeerReport {
  const activity = limitActivity(limit, autoResume);
  const pausedUntil = limit.isKnown ? limit.until : undefined;
  return { state: "paused", stateFrom: "notice", activity, limited: true, pausedUntil };
}
