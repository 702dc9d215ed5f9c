import { randomBytes } from "node:crypto";
import { TeamError } from "../../errors.ts";
import { authenticProtocol } from "../../protocol/authenticate.ts";
import { proseOf } from "../../protocol/render.ts";
import type { InboxMessage } from "../../schema/inbox.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import { readTeam, teamExists } from "../../team/config/config.ts";
import { leftMessages, removeHandedOut, writeHandedOut } from "../../team/mailbox/handed-out.ts";
import { history } from "../../team/mailbox/history.ts";
import { markAsRead, unreadCount, unreadMessages } from "../../team/mailbox/receive.ts";
import { isLed } from "../../team/members/led.ts";
import { livenessOfAgent } from "../../team/records/read-records.ts";
import type { TeamRef } from "../../team/ref.ts";
import { cutText } from "../../text/characters/cut-text.ts";

/** Maximum characters of one message: more than `SendMessage` allows, because other programs have no limit. */
const MAX_TEXT = 110_000;
/** Maximum characters of several messages in one result: clients cut or refuse longer results. */
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
  /** It was returned before, but may not have arrived. */
  readonly again?: true;
}

interface Taken {
  readonly messages: readonly ClientMessage[];
  /** Unread messages that did not fit. */
  readonly more: number;
}

/** The part of a client's call that matters for its messages. */
export interface MailCall {
  /** Aborts when the client cancels the call or goes away. */
  readonly signal: AbortSignal;
  /** Identifies the connection of the client: one process serves several over HTTP. */
  readonly client: string;
  /** Aborts if the client disconnects before its answer is written. Undefined if the connection ends with this process. */
  readonly lost?: AbortSignal | undefined;
}

/**
 * The inbox of a member whose program is an MCP client. A message is marked as read once, when a call returns it. The client's next
 * call shows that the message arrived; until then, a file contains its id. If this process ends before that call, the next process
 * returns the message again. A message is also returned again if a connection ends before the answer is written. A message therefore
 * arrives at least once, and its id identifies repetitions.
 */
export class ClientMail {
  readonly #ref: TeamRef;
  readonly #name: string;
  /** The name of this server's list. */
  readonly #server = `${process.pid}-${randomBytes(4).toString("hex")}`;
  /** Messages that were returned and not acknowledged yet, by client. */
  readonly #handedOut = new Map<string, readonly ClientMessage[]>();
  /** The messages that the running {@link take} will return. */
  #taking: readonly ClientMessage[] = [];
  /** Ids of the messages of a failed {@link take}, which may be marked as read although no client got them. */
  #unsettled: readonly string[] = [];
  /** Messages that did not arrive and must be returned again. */
  #lost: readonly ClientMessage[] = [];
  #queue: Promise<unknown> = Promise.resolve();

  constructor(ref: TeamRef, name: string) {
    this.#ref = ref;
    this.#name = name;
  }

  /** Acknowledges the earlier results of a client. Call it when a tool call of that client arrives. */
  acknowledge(client: string): Promise<void> {
    const arrived = this.#handedOut.get(client) ?? [];
    if (arrived.length === 0) return Promise.resolve();
    return this.#inTurn(() => {
      this.#keep(client, (one) => !arrived.includes(one));
      this.#write();
    });
  }

  /**
   * Returns unread messages, oldest first, and marks them as read. Leaves out a message that another process marks at the same time.
   * @throws TeamError INVALID_INPUT if the member's own process reads its messages, ABORTED by the signal
   */
  take(limit: number, { signal, client, lost }: MailCall): Promise<Taken> {
    return this.#inTurn(async () => {
      requireOwnReader(this.#ref, this.#name);
      const { servers } = await this.#takeOver();
      const again = this.#lost;
      const unread = (await unreadMessages(this.#ref, this.#name)).map(({ key, message }) =>
        clientMessage(key, message, this.#name),
      );
      const waiting = [...again, ...unread];
      const chosen = firstThatFit(waiting, limit);
      // The client gave up: nothing was returned, so nothing is marked.
      signal.throwIfAborted();
      lost?.throwIfAborted();
      this.#taking = chosen;
      this.#lost = again.filter((one) => !chosen.includes(one));
      let marked: ReadonlySet<string>;
      try {
        // In this order: after a crash in between, a message is unread and in the list, and is returned once.
        this.#write();
        removeHandedOut(this.#ref, this.#name, servers);
        const ids = chosen.flatMap(({ id, again: isAgain }) => (isAgain ? [] : [id]));
        marked = await markAsRead(this.#ref, this.#name, ids);
      } catch (error) {
        // The client gets the error instead of the messages, which may be marked: the lock could not be released, for example.
        this.#lost = again;
        this.#unsettled = chosen.map(({ id }) => id);
        throw error;
      } finally {
        this.#taking = [];
      }
      const messages = chosen.filter(({ id, again: isAgain }) => isAgain === true || marked.has(id));
      const open = [...(this.#handedOut.get(client) ?? []), ...messages];
      if (open.length > 0) this.#handedOut.set(client, open);
      // The answer to a cancelled call is not sent.
      if (signal.aborted || lost?.aborted) this.#returnAgain(client, messages);
      lost?.addEventListener("abort", () => void this.#inTurn(() => this.#returnAgain(client, messages)), {
        once: true,
      });
      return { messages, more: waiting.length - chosen.length };
    });
  }

  /** Returns how many messages a {@link take} would find. */
  waiting(): Promise<number> {
    return this.#inTurn(() => {
      const left = leftMessages(this.#ref, this.#name, this.#server).ids.length;
      return unreadCount(this.#ref, this.#name) + this.#lost.length + left;
    });
  }

  /** Schedules the messages of a client whose connection has ended to be returned again. */
  leave(client: string): Promise<void> {
    return this.#inTurn(() => this.#returnAgain(client, this.#handedOut.get(client) ?? []));
  }

  /** Lets the next server return messages that have not arrived; call it when this one ends. */
  close(): Promise<void> {
    return this.#inTurn(() => {
      if (teamExists(this.#ref)) this.#write(true);
    });
  }

  /**
   * Takes over the unacknowledged messages of ended servers and of a failed call.
   * @returns the lists of these servers, to be removed once this server's own list names the messages
   */
  async #takeOver(): Promise<{ readonly servers: readonly string[] }> {
    const left = leftMessages(this.#ref, this.#name, this.#server);
    const known = new Set(this.#lost.map(({ id }) => id));
    const ids = new Set([...left.ids, ...this.#unsettled].filter((id) => !known.has(id)));
    const found = ids.size === 0 ? [] : await history(this.#ref, this.#name, { all: true });
    const lost = found
      // An unread message is returned with the other unread messages.
      .filter(({ id, read }) => ids.has(id) && read)
      .map(({ id, ...message }) => asAgain(clientMessage(id, message, this.#name)));
    this.#lost = [...this.#lost, ...lost];
    this.#unsettled = [];
    return left;
  }

  /** Schedules messages that a client did not get to be returned again. */
  #returnAgain(client: string, messages: readonly ClientMessage[]): void {
    const open = (this.#handedOut.get(client) ?? []).filter((one) => messages.includes(one));
    if (open.length === 0) return;
    this.#keep(client, (one) => !open.includes(one));
    this.#lost = [...this.#lost, ...open.map(asAgain)];
    // The change of a team file wakes another client's wait.
    if (teamExists(this.#ref)) this.#write();
  }

  #keep(client: string, isKept: (message: ClientMessage) => boolean): void {
    const kept = (this.#handedOut.get(client) ?? []).filter(isKept);
    if (kept.length === 0) this.#handedOut.delete(client);
    else this.#handedOut.set(client, kept);
  }

  #write(hasEnded = false): void {
    const messages = [...[...this.#handedOut.values()].flat(), ...this.#taking, ...this.#lost];
    const ids = [...new Set([...messages.map(({ id }) => id), ...this.#unsettled])];
    writeHandedOut(this.#ref, this.#name, this.#server, ids, hasEnded);
  }

  /** Returns the newest messages, including read ones, oldest first. Marks nothing. */
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
 * Refuses a member whose own process reads its inbox: that process would miss a message that this one marks.
 * @throws TeamError INVALID_INPUT
 */
function requireOwnReader(ref: TeamRef, name: string): void {
  const config = readTeam(ref);
  const isLeading = name === LEAD_NAME && isLed(ref, config);
  if (!isLeading && livenessOfAgent(ref, name) !== "alive") return;
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

function asAgain(message: ClientMessage): ClientMessage {
  return { ...message, again: true };
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
