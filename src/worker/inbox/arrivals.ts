import { messageOf } from "../../errors.ts";
import { defined } from "../../schema/defined.ts";
import { isTyped } from "../../schema/inbox.ts";
import type { InboxEntry } from "../../team/mailbox/receive.ts";
import { operand } from "../../text/shell-quote.ts";
import type { BudgetWait } from "../gates/budget.ts";
import type { UndeliveredAnswers } from "../gates/questions.ts";
import type { LazyAgent } from "../lazy-agent.ts";
import type { WakeSignal, WorkerLifecycle } from "../lifecycle.ts";
import type { WorkerParts } from "../ports.ts";
import type { TeamNotifications } from "../reports/team-reports.ts";
import { isNews, type Queue, type ShutdownRequests } from "../turn-queue.ts";
import { type AtOnceParts, handleControlMessage } from "./control-messages.ts";
import { InboxReader } from "./inbox-reader.ts";

export interface InboundMessagesOptions
  extends Pick<WorkerParts, "ref" | "name" | "bell" | "signal" | "onSilent">,
    Omit<AtOnceParts, "onSilent"> {
  readonly queue: Queue;
  readonly shutdowns: ShutdownRequests;
  readonly answers: UndeliveredAnswers;
  readonly budget: BudgetWait;
  readonly reports: Pick<TeamNotifications, "guarded">;
  readonly agent: LazyAgent;
  readonly life: Pick<WorkerLifecycle, "teamGone">;
  /** Set when something is there, or may be, that the loop looks for. */
  readonly wake: WakeSignal;
  isInTurn(): boolean;
}

/** What a call that waits for a permission is refused with, so that the request is answered at once. */
export const SHUTDOWN_ASKED = "A shutdown was asked for.";

/** What comes to a worker from outside: messages, of which each is acted on or queued once, and rings for what is no message. */
export class InboundMessages {
  readonly mail: InboxReader;
  readonly #options: InboundMessagesOptions;

  constructor(options: InboundMessagesOptions) {
    const { ref, name, bell, signal, view, plan, desk, status, interrupt, onSilent } = options;
    this.#options = options;
    const parts = defined({ plan, desk, status, view, interrupt, onSilent });
    this.mail = new InboxReader({
      ref,
      agent: name,
      bell,
      signal,
      handled: async () => (await options.agent.get()).handledKeys,
      atOnce: (entry) => handleControlMessage(entry, parts),
      arrived: (entries) => this.arrived(entries),
      teamGone: () => options.life.teamGone(),
      problem: (error) => view.error(messageOf(error)),
      rang: () => this.#rang(),
    });
  }

  /** What is for a turn, in order. */
  arrived(entries: readonly InboxEntry[]): void {
    const { queue, desk, shutdowns, answers, wake } = this.#options;
    for (const entry of entries) {
      const { protocol } = entry;
      queue.add(entry);
      if (protocol?.type === "shutdown_request") {
        shutdowns.asked(protocol.requestId);
        desk.refuseAll(SHUTDOWN_ASKED);
      }
      if (protocol?.type === "question_response") answers.arrived(protocol.requestId);
      this.#show(entry);
    }
    wake.set();
  }

  /** More of a budget may be there, or a shutdown request, for which a turn makes way that stands for want of one. */
  lookAtBudget(): void {
    const { budget, wake } = this.#options;
    if (!budget.isOn) return;
    budget.ring();
    wake.set();
  }

  /** What waits is shown as that. */
  #show(entry: InboxEntry): void {
    const { view, plan, budget, isInTurn } = this.#options;
    const { key, message } = entry;
    const { from, text } = message;
    if (isNews(entry)) budget.hear(key, text);
    else if (isTyped(message) && plan.request !== undefined) view.note(keptFor(plan.request));
    else if (!isInTurn()) return;
    else if (isTyped(message)) view.queued("you", text);
    else view.queued(from);
  }

  /**
   * What nobody writes a message of: more of a budget, and answers and settings that let what is open go on; and what a mode
   * or a rule that came with a message does.
   */
  #rang(): void {
    this.lookAtBudget();
    void this.#options.reports.guarded(() => this.#lookAtOpen());
  }

  async #lookAtOpen(): Promise<void> {
    const { answers, desk } = this.#options;
    // Those whose message was lost with its sender.
    await answers.look();
    if (!desk.isOpen) return;
    desk.lookForAnswers();
    await desk.reconsider();
  }
}

/** What is said of a line that is typed while a plan waits. */
function keptFor(plan: string): string {
  const id = operand(plan);
  return `kept until its plan has its answer: teams approve ${id}, or teams reject ${id} --note "…"`;
}
