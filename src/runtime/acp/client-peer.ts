import type { AgentContext, InitializeRequest, SessionUpdate } from "@agentclientprotocol/sdk";
import type { TeamRef } from "../../team/ref.ts";
import type { SessionFact } from "./facts.ts";
import { MAX_WAITING } from "./limits.ts";
import { offerRequest } from "./offer-request.ts";
import type { SessionPeer } from "./session.ts";
import type { OfferRequest } from "./session-requests.ts";
import { updateOf } from "./updates.ts";

/** The capabilities that a client announced. */
export interface ClientAbilities {
  readonly clientCapabilities?: InitializeRequest["clientCapabilities"] | undefined;
}

interface ClientPeerOptions {
  readonly client: AgentContext;
  readonly sessionId: string;
  readonly cwd: string;
  readonly ref: () => TeamRef;
  readonly abilities: ClientAbilities;
  /** Called when too many characters wait for a client that does not read. */
  onStalled(): void;
  ended(): void;
}

/** A session's connection to a client of protocol version 1. */
export class ClientPeer implements SessionPeer {
  readonly #options: ClientPeerOptions;
  readonly offer: OfferRequest;
  readonly #opened: Promise<void>;
  #open = (): void => undefined;
  /** Updates before the client knows the session; undefined once it does. */
  #early: SessionUpdate[] | undefined;
  /** Characters of the updates that the client has not taken. */
  #waiting = 0;
  #newest: Promise<void> = Promise.resolve();
  #hasEnded = false;

  /** @param isKnown true if the client already knows the session, and gets its conversation before the answer */
  constructor(options: ClientPeerOptions, isKnown: boolean) {
    this.#options = options;
    this.#early = isKnown ? undefined : [];
    this.#opened = new Promise((resolve) => {
      this.#open = resolve;
    });
    this.offer = async (request, signal) => {
      await this.#opened;
      if (signal.aborted) return undefined;
      const { client, sessionId, cwd, abilities, ref } = options;
      const hasForms = Boolean(abilities.clientCapabilities?.elicitation?.form);
      return offerRequest({ client, sessionId, cwd, hasForms, ref: ref() }, request, signal);
    };
  }

  /** Called when the client has the answer that names the session. */
  opened(): void {
    const early = this.#early ?? [];
    this.#early = undefined;
    for (const update of early) this.#send(update);
    this.#open();
  }

  show(fact: SessionFact): void {
    if (this.#hasEnded) return;
    const { cwd, abilities } = this.#options;
    const hasNotices = Boolean(abilities.clientCapabilities?.session?.notices);
    const update = updateOf(fact, { cwd, hasNotices });
    if (this.#early === undefined) this.#send(update);
    else this.#early.push(update);
  }

  flushed(): Promise<void> {
    return this.#newest;
  }

  ended(): void {
    this.#hasEnded = true;
    this.#options.ended();
  }

  #send(update: SessionUpdate): void {
    const { client, sessionId, onStalled } = this.#options;
    const size = JSON.stringify(update).length;
    this.#waiting += size;
    if (this.#waiting > MAX_WAITING) onStalled();
    const sent = (): void => {
      this.#waiting -= size;
    };
    // A failure ends the connection, and the owner of the connection handles that.
    this.#newest = client.notify("session/update", { sessionId, update }).then(sent, sent);
  }
}
