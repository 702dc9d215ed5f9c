import { defined } from "../../schema/defined.ts";
import { LEAD_NAME, SYSTEM_NAME } from "../../schema/names.ts";
import { eventMessageId } from "../../team/mailbox/event-message-id.ts";
import { sendMessage } from "../../team/mailbox/send.ts";
import {
  type Budget,
  type BudgetLevel,
  budgetsOf,
  budgetText,
  budgetUse,
} from "../../team/members/budget.ts";
import type { TeamRef } from "../../team/ref.ts";
import { operand, optionWords } from "../../text/shell-quote.ts";
import { ManualBell } from "../../wakeup/manual-bell.ts";
import type { WorkerLifecycle } from "../lifecycle.ts";
import type { EventRecorder } from "../reports/agent-activity.ts";
import type { TeamNotifications } from "../reports/team-reports.ts";
import type { StatusKeeper } from "../status-record.ts";
import type { Queue } from "../turn-queue.ts";
import type { WorkerView } from "../view.ts";

/** A budget of which nothing is left. */
interface SpentBudget {
  /** `10,120 of 10,000 tokens` */
  readonly text: string;
  /** What a person is to know, and how it goes on. */
  readonly sentence: string;
}

/** Looks after the budgets that bind an agent, and tells lead and person of each of the two marks once. */
class BudgetLimit {
  readonly #ref: TeamRef;
  readonly #name: string;
  readonly #tell: (text: string) => void;
  readonly #told = new Set<string>();

  /** @param tell shows a line to the person who looks at the agent */
  constructor(ref: TeamRef, name: string, tell: (text: string) => void) {
    this.#ref = ref;
    this.#name = name;
    this.#tell = tell;
  }

  /**
   * Looks at what was spent by now.
   * @returns the first budget of which nothing is left
   * @throws TeamError TEAM_NOT_FOUND, and what the lead's inbox throws; the next look tells what this one could not
   */
  async look(): Promise<SpentBudget | undefined> {
    let spent: SpentBudget | undefined;
    for (const budget of budgetsOf(this.#ref, this.#name)) {
      const { level, share } = budgetUse(budget.limits, budget.spent);
      if (level === "within") continue;
      const text = budgetText(budget.limits, budget.spent);
      const sentence = sentenceOf(this.#ref, budget, level, share, text);
      if (level === "spent") spent ??= { text, sentence };
      await this.#tellOnce(budget, level, sentence);
    }
    return spent;
  }

  /** Another agent has told of a mark: the person who looks at this one hears of it once. @param event the message's id */
  hear(event: string, text: string): void {
    if (this.#told.has(event)) return;
    this.#told.add(event);
    this.#tell(text);
  }

  /**
   * Of a team's budget many notice the same: the message's id stands for that. A member that stands says so itself, since the
   * lead has to go on without it; everything else is the system's news, which starts no turn.
   */
  async #tellOnce({ member, limits }: Budget, level: BudgetLevel, text: string): Promise<void> {
    const event = eventMessageId("budget", member ?? "", level, JSON.stringify(defined(limits)));
    if (this.#told.has(event)) return;
    const stands = level === "spent" && member !== undefined && member !== LEAD_NAME;
    await sendMessage(this.#ref, {
      from: stands ? member : SYSTEM_NAME,
      to: LEAD_NAME,
      text,
      messageId: event,
    });
    this.hear(event, text);
  }
}

function sentenceOf(
  { team }: TeamRef,
  { member }: Budget,
  level: BudgetLevel,
  share: number,
  text: string,
): string {
  const whose = member === undefined ? "The team" : member;
  if (level === "near") return `${whose} has used ${Math.floor(share * 100)} % of its budget: ${text}.`;
  const target = member === undefined ? optionWords("--team", team) : operand(`${member}@${team}`);
  const who = member === undefined ? "all of it stops" : "it stops";
  return `${whose} has used up its budget (${text}): ${who} until there is more. A person gives it: teams budget ${target} --max-tokens <tokens> or --max-cost <dollars>`;
}

interface BudgetPauseOptions {
  readonly ref: TeamRef;
  readonly name: string;
  readonly reports: Pick<TeamNotifications, "guarded">;
  readonly events: EventRecorder;
  readonly status: StatusKeeper;
  readonly view: WorkerView;
  /** Ends whoever waits. */
  readonly signal: AbortSignal;
  readonly life: Pick<WorkerLifecycle, "goesOn">;
  readonly queue: Pick<Queue, "hasShutdown">;
  isInTurn(): boolean;
}

/** Calls of the model that an agent without a budget has to answer a shutdown request: its tool, and a last word. */
const MOST_OVERDRAWN = 3;
/** Longest wait for more of a budget until the next look, in milliseconds: the net for a ring that was lost. */
const POLL_MS = 10_000;

/** Stops an agent before the call of a model that there is no budget for, and lets it go on once there is more. */
export class BudgetWait {
  readonly #options: BudgetPauseOptions;
  readonly #gate: BudgetLimit;
  /** Rings for whoever waits for more: an agent and its subagents do so side by side. */
  readonly #more = new ManualBell(() => undefined);
  #isOn = false;
  /** Calls that the turn that runs may still have whatever the budget is. */
  #overdraft = 0;

  constructor(options: BudgetPauseOptions) {
    this.#options = options;
    this.#gate = new BudgetLimit(options.ref, options.name, (text) => options.view.waiting(text));
  }

  /** Whether the agent stands for want of a budget. */
  get isOn(): boolean {
    return this.#isOn;
  }

  /** A turn begins. @param answersShutdown it reads a shutdown request, whose answer may be paid whatever the budget is */
  turnBegins(answersShutdown: boolean): void {
    this.#overdraft = answersShutdown ? MOST_OVERDRAWN : 0;
  }

  /** Looks at what was spent, and tells what there is to tell of it. @returns whether nothing is left */
  async look(): Promise<boolean> {
    let isOut = false;
    await this.#options.reports.guarded(async () => {
      isOut = (await this.#gate.look()) !== undefined;
    });
    return isOut;
  }

  /** @param isDue something waits for a turn @returns whether it has to wait for a budget */
  async holdsBack(isDue: boolean): Promise<boolean> {
    if (isDue && !this.#mustMakeWay && (await this.look())) {
      this.#pause();
      return true;
    }
    this.#goOn();
    return false;
  }

  /**
   * Ends once the model may be called. Where a budget is spent, the turn stands here until there is more; a shutdown that is
   * asked for meanwhile is next.
   * @param signal of the turn: one that was interrupted waits for nothing
   */
  async beforeCall(signal: AbortSignal): Promise<"go" | "stop"> {
    const stops = AbortSignal.any([signal, this.#options.signal]);
    while (await this.look()) {
      if (signal.aborted) return "go";
      if (this.#overdraft > 0) {
        this.#overdraft -= 1;
        return "go";
      }
      if (this.#mustMakeWay) return "stop";
      this.#pause();
      await this.#more.wait({ signal: stops, timeoutMs: POLL_MS });
    }
    this.#goOn();
    return "go";
  }

  /** Another agent has told of a budget. @param event its message's id */
  hear(event: string, text: string): void {
    this.#gate.hear(event, text);
  }

  /** Something changed that may let it go on, or make way. */
  ring(): void {
    this.#more.ring();
  }

  /** Whether the turn that stands has to make way: the agent ends, or a shutdown is asked for. */
  get #mustMakeWay(): boolean {
    const { life, queue } = this.#options;
    return !life.goesOn || queue.hasShutdown;
  }

  #pause(): void {
    const { status, events } = this.#options;
    // Also where one of several that work side by side is what stands last.
    if (status.state !== "paused") status.happened("budget_spent", "its budget is spent");
    if (this.#isOn) return;
    this.#isOn = true;
    events.record({ type: "agent", what: "paused" });
  }

  #goOn(): void {
    if (!this.#isOn) return;
    this.#isOn = false;
    const { status, events, view, isInTurn } = this.#options;
    status.happened(isInTurn() ? "went_on" : "turn_ended", "");
    events.record({ type: "agent", what: "went_on" });
    view.note("there is budget again");
  }
}
