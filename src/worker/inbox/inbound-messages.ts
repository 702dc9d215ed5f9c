import { isTyped } from "../../schema/inbox.ts";
import type { InboxEntry } from "../../team/mailbox/receive.ts";
import { operand } from "../../text/shell-quote.ts";
import type { WorkerContext } from "../context.ts";
import type { WorkerGates } from "../gates/gates.ts";
import { OwnMembership } from "../reports/own-membership.ts";
import { isSystemNotice } from "../turn-queue.ts";
import { handleControlMessage } from "./control-messages.ts";
import { InboxReader } from "./inbox-reader.ts";

/** All input from outside: handles or queues each message once, and reacts to rings without a message. */
export class InboundMessages {
  readonly reader: InboxReader;
  readonly #context: WorkerContext;
  readonly #gates: WorkerGates;
  readonly #membership: OwnMembership;
  /** Keys of all withdrawn messages. Never cleared: until a message is marked, a read can return it again. */
  readonly #withdrawn = new Set<string>();

  constructor(context: WorkerContext, gates: WorkerGates) {
    this.#context = context;
    this.#gates = gates;
    this.#membership = new OwnMembership(context);
    this.reader = new InboxReader(context, {
      handleControlMessage: (entry) => handleControlMessage(entry, context, gates),
      queueForTurn: (entries) => this.queueForTurn(entries),
      afterRead: () => {
        void this.#membership.check();
        this.#recheckWaits();
      },
    });
  }

  /** Stops watching for changes. */
  close(): void {
    this.#membership.close();
  }

  /** Drops messages that no turn has taken: they count as read. @returns the keys of the messages that waited for a turn */
  async withdraw(keys: readonly string[]): Promise<readonly string[]> {
    const dropped = this.#context.queue.drop(new Set(keys));
    for (const key of keys) this.#withdrawn.add(key);
    // Includes messages that were not read yet: this process may end before it reads them.
    await this.reader.markRecorded(keys);
    return dropped;
  }

  /** Queues messages for a turn, in order. */
  queueForTurn(read: readonly InboxEntry[]): void {
    const { queue, shutdownRequests, wake } = this.#context;
    const withdrawn = read.flatMap(({ key }) => (this.#withdrawn.has(key) ? [key] : []));
    if (withdrawn.length > 0) void this.reader.markRecorded(withdrawn);
    const entries = read.filter(({ key }) => !this.#withdrawn.has(key));
    const { permissionRequests, cliQuestions, undeliveredAnswers, accountLimit } = this.#gates;
    for (const entry of entries) {
      const { protocol } = entry;
      queue.add(entry);
      if (protocol?.type === "shutdown_request") {
        shutdownRequests.add(protocol.requestId);
        permissionRequests.refuseAll();
        cliQuestions.declineAll();
        accountLimit.current?.recheck();
      }
      if (protocol?.type === "question_response") undeliveredAnswers.received(protocol.requestId);
      this.#showQueued(entry);
    }
    wake.set();
  }

  /** Rechecks the answers in files, and the budget. */
  recheck(): void {
    this.#gates.permissionRequests.readAnswers();
    this.#gates.cliQuestions.readAnswers();
    this.recheckBudget();
  }

  /** Rechecks a wait for budget: there may be more, or a shutdown request that ends the waiting turn. */
  recheckBudget(): void {
    if (!this.#gates.budget.isWaiting) return;
    this.#gates.budget.recheck();
    this.#context.wake.set();
  }

  #showQueued(entry: InboxEntry): void {
    const { view, runningTurn } = this.#context;
    const { planApproval, budget } = this.#gates;
    const { key, message } = entry;
    const { from, text } = message;
    if (isSystemNotice(entry)) budget.showOnce(key, text);
    else if (isTyped(message) && planApproval.request !== undefined) view.note(keptFor(planApproval.request));
    else if (!runningTurn.isActive) return;
    else if (isTyped(message)) view.queued("you", text);
    else view.queued(from);
  }

  /**
   * Rechecks every wait that can end without a message: more budget, answers in files, and a mode or rule that a message has
   * just changed.
   */
  #recheckWaits(): void {
    this.recheckBudget();
    this.#gates.accountLimit.current?.recheck();
    const { notifications } = this.#context;
    void notifications.attempt(() => this.#recheckRequests());
    void notifications.resendReports();
  }

  async #recheckRequests(): Promise<void> {
    const { undeliveredAnswers, permissionRequests, cliQuestions } = this.#gates;
    await undeliveredAnswers.deliver();
    cliQuestions.readAnswers();
    if (!permissionRequests.isOpen) return;
    permissionRequests.readAnswers();
    await permissionRequests.reconsider();
  }
}

/** Shown for a line that is typed while a plan waits for its verdict. */
function keptFor(plan: string): string {
  const id = operand(plan);
  return `kept until the plan is answered: teams approve ${id}, or teams reject ${id} --note "…"`;
}
