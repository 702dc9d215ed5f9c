import { TeamError } from "../../errors.ts";
import { authenticProtocol } from "../../protocol/authenticate.ts";
import { proseOf } from "../../protocol/render.ts";
import type { InboxMessage } from "../../schema/inbox.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import { readTeam } from "../../team/config/config.ts";
import { readHandedOut, writeHandedOut } from "../../team/mailbox/handed-out.ts";
import { history } from "../../team/mailbox/history.ts";
import { markAsRead, unreadMessages } from "../../team/mailbox/receive.ts";
import { livenessOfAgent } from "../../team/records/read-records.ts";
import { judgeProcess, type TeamRef } from "../../team/ref.ts";
import { cutText } from "../../text/characters/cut-text.ts";

/** Longest text of one message, in characters: longer than `SendMessage` allows; other programs have no limit. */
const MAX_TEXT = 110_000;
/** Texts of several messages in one result, in characters: clients cut or refuse longer results. */
const MAX_TEXTS = 50_000;

/** A message as a client's model reads it. */
export interface ClientMessage {
  readonly id: string;
  readonly from: string;
  readonly at: string;
  /** `message`, or the type of a protocol message. */
  readonly type: string;
  readonly summary?: string;
  readonly text: string;
  /** An earlier process returned it already, but may have ended before it arrived. */
  readonly again?: true;
}

interface Taken {
  readonly messages: readonly ClientMessage[];
  /** Unread messages that did not fit. */
  readonly more: number;
}

/**
 * The inbox of a member whose program is an MCP client. A message is marked as read once, when a call returns it. Until the
 * client's next call shows that it arrived, its id is also in a file: if this process ends before, the next one returns the
 * message again. So a message arrives at least once, and its id tells repetitions apart.
 */
export class ClientMail {
  readonly #ref: TeamRef;
  readonly #name: string;
  /** Returned, and not acknowledged yet. */
  #handedOut: readonly string[] = [];
  /** Messages that an earlier process left, and that this one has not returned yet. */
  #lost: readonly ClientMessage[] = [];
  /** Whether the ids that an earlier process left were taken over. */
  #hasTakenOver = false;
  #queue: Promise<unknown> = Promise.resolve();

  constructor(ref: TeamRef, name: string) {
    this.#ref = ref;
    this.#name = name;
  }

  /** Call when a tool call arrives: the results that were returned before it have arrived at its client. */
  acknowledge(): Promise<void> {
    const arrived = this.#handedOut;
    if (arrived.length === 0) return Promise.resolve();
    return this.#inTurn(() => {
      const open = this.#handedOut.filter((id) => !arrived.includes(id));
      writeHandedOut(this.#ref, this.#name, [...open, ...this.#lost.map(({ id }) => id)]);
      this.#handedOut = open;
    });
  }

  /**
   * Returns unread messages, oldest first, and marks them as read.
   * @throws TeamError INVALID_INPUT if the member's own process reads its messages, ABORTED by the signal
   */
  take(limit: number, signal: AbortSignal): Promise<Taken> {
    return this.#inTurn(async () => {
      requireOwnReader(this.#ref, this.#name);
      const lost = await this.#takeLost();
      const unread = (await unreadMessages(this.#ref, this.#name)).map(({ key, message }) =>
        clientMessage(key, message, this.#name),
      );
      const waiting = [...lost, ...unread];
      const messages = firstThatFit(waiting, limit);
      // The client gave up: nothing was returned, so nothing is marked.
      signal.throwIfAborted();
      const ids = messages.map(({ id }) => id);
      const rest = lost.filter(({ id }) => !ids.includes(id));
      // In this order: after a crash in between, the message is unread and named, and is returned once.
      const named = [...new Set([...this.#handedOut, ...ids, ...rest.map(({ id }) => id)])];
      if (named.length > 0) writeHandedOut(this.#ref, this.#name, named);
      await markAsRead(this.#ref, this.#name, ids);
      this.#handedOut = [...this.#handedOut, ...ids];
      this.#lost = rest;
      return { messages, more: waiting.length - messages.length };
    });
  }

  /** Returns the messages that an earlier process marked as read, and whose receipt its client never showed. */
  async #takeLost(): Promise<readonly ClientMessage[]> {
    if (this.#hasTakenOver) return this.#lost;
    const ids = new Set(readHandedOut(this.#ref, this.#name));
    const found = ids.size === 0 ? [] : await history(this.#ref, this.#name, { all: true });
    this.#lost = found
      // An unread one is returned with the others.
      .filter(({ id, read }) => ids.has(id) && read)
      .map(({ id, ...message }) => ({
        ...clientMessage(id, message, this.#name),
        again: true as const,
      }));
    this.#hasTakenOver = true;
    return this.#lost;
  }

  /** Returns the newest messages, also read ones, oldest first. Marks nothing. */
  async recent(limit: number): Promise<readonly ClientMessage[]> {
    const all = await history(this.#ref, this.#name, { all: true });
    const newest = all.map(({ id, ...message }) => clientMessage(id, message, this.#name)).reverse();
    return [...firstThatFit(newest, limit)].reverse();
  }

  /** Runs one change at a time: two calls of one client must not return the same message. */
  #inTurn<T>(work: () => Promise<T> | T): Promise<T> {
    const result = this.#queue.then(work);
    // The caller handles the failure; the next call runs in any case.
    this.#queue = result.catch(() => undefined);
    return result;
  }
}

/**
 * Refuses for a member whose own process reads its inbox: that process would miss a message that another marks.
 * @throws TeamError INVALID_INPUT
 */
function requireOwnReader(ref: TeamRef, name: string): void {
  const { leadProcess } = readTeam(ref);
  const isLed = name === LEAD_NAME && leadProcess !== undefined && judgeProcess(ref, leadProcess) !== "dead";
  if (!isLed && livenessOfAgent(ref, name) !== "alive") return;
  throw new TeamError(
    "INVALID_INPUT",
    `${name} runs in a process that reads its messages itself, and would miss what you mark; nothing was marked.`,
    { hint: "Use ReadMessages with `recent`, which marks nothing." },
  );
}

function clientMessage(id: string, message: InboxMessage, reader: string): ClientMessage {
  const { from, timestamp: at, summary } = message;
  const protocol = authenticProtocol(message, reader);
  const text = protocol === undefined ? message.text : proseOf(protocol);
  return {
    id,
    from,
    at,
    type: protocol?.type ?? "message",
    ...(summary === undefined ? {} : { summary }),
    text: cutText(text, MAX_TEXT),
  };
}

/** Returns as many messages as fit into one result, but at least one. */
function firstThatFit(messages: readonly ClientMessage[], limit: number): readonly ClientMessage[] {
  let length = 0;
  const end = messages.findIndex(({ text }, at) => {
    length += text.length;
    return at >= limit || (at > 0 && length > MAX_TEXTS);
  });
  return end < 0 ? messages : messages.slice(0, end);
}
