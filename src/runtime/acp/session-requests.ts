import { messageOf, TeamError } from "../../errors.ts";
import {
  type ApprovalAnswer,
  type ApprovalDetails,
  answerApproval,
  approvalDetails,
  listApprovals,
} from "../../operations/approvals/approvals.ts";
import type { OperationContext } from "../../operations/context.ts";

/**
 * Offers a request to the client, until the signal withdraws it. May reject then.
 * @returns the answer of the client's user; undefined if there is none
 */
export type OfferRequest = (
  request: ApprovalDetails,
  signal: AbortSignal,
) => Promise<ApprovalAnswer | undefined>;

interface SessionRequestsOptions {
  readonly ctx: OperationContext;
  readonly offer: OfferRequest;
  /** Called when the number of requests that the client has changes. @param isLeft true if its user left one unanswered */
  onChange(open: number, isLeft: boolean): void;
  onProblem(text: string): void;
}

/**
 * Offers the open requests of the whole team to the client of a session: plans, permissions, questions and crashes. The first answer
 * counts; a request that is answered elsewhere is withdrawn from the client.
 */
export class SessionRequests {
  readonly #options: SessionRequestsOptions;
  /** The requests that the client has now, by id. */
  readonly #offered = new Map<string, AbortController>();
  /** Requests that the client left unanswered; they are offered again with the next prompt. */
  readonly #left = new Set<string>();

  constructor(options: SessionRequestsOptions) {
    this.#options = options;
  }

  /** Offers new requests, and withdraws those that are no longer open. */
  check(): void {
    const { ref } = this.#options.ctx;
    const open = new Set(listApprovals(ref).map(({ id }) => id));
    for (const [id, offer] of this.#offered) if (!open.has(id)) offer.abort();
    for (const id of this.#left) if (!open.has(id)) this.#left.delete(id);
    for (const id of open) if (!this.#offered.has(id) && !this.#left.has(id)) this.#begin(id);
  }

  /** Offers again the requests that the client left unanswered. */
  offerAgain(): void {
    this.#left.clear();
    this.check();
  }

  /** Withdraws all requests from the client. */
  end(): void {
    for (const offer of this.#offered.values()) offer.abort();
  }

  #begin(id: string): void {
    const offer = new AbortController();
    this.#offered.set(id, offer);
    this.#options.onChange(this.#offered.size, false);
    this.#ask(id, offer.signal)
      .catch((error: unknown) => this.#report(id, error))
      .finally(() => {
        this.#offered.delete(id);
        this.#options.onChange(this.#offered.size, this.#left.has(id));
      });
  }

  async #ask(id: string, signal: AbortSignal): Promise<void> {
    const { ctx, offer } = this.#options;
    const details = await approvalDetails(ctx.ref, id);
    const answer = await offer(details, signal).catch((error: unknown) => {
      // The offer of a withdrawn request rejects: the request was answered elsewhere, or the session has ended.
      if (signal.aborted) return undefined;
      throw error;
    });
    if (signal.aborted) return;
    if (answer === undefined) this.#left.add(id);
    else await answerApproval(ctx, id, answer);
  }

  /** Another answer may have come first, which is not a problem. */
  #report(id: string, error: unknown): void {
    if (error instanceof TeamError && OVERTAKEN.has(error.code)) return;
    this.#left.add(id);
    this.#options.onProblem(`the request ${id} is still open: ${messageOf(error)}`);
  }
}

const OVERTAKEN: ReadonlySet<string> = new Set(["REQUEST_NOT_FOUND", "ALREADY_ANSWERED", "TEAM_NOT_FOUND"]);
