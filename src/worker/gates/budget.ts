import { defined } from "../../schema/defined.ts";
import { LEAD_NAME, SYSTEM_NAME, sameName } from "../../schema/names.ts";
import { teamExists } from "../../team/config/config.ts";
import type { InboxEntry } from "../../team/mailbox/receive.ts";
import { eventMessageId, sendMessage } from "../../team/mailbox/send.ts";
import {
  type Budget,
  type BudgetLevel,
  budgetsOf,
  budgetText,
  budgetUse,
} from "../../team/members/budget.ts";
import type { TeamRef } from "../../team/ref.ts";
import { operand, optionWords } from "../../text/shell-quote.ts";
import { ManualBell } from "../../wakeup/bell.ts";
import type { WorkerContext } from "../context.ts";

/** Shows a line in the agent's pane. @param by who notifies the user, as in {@link WorkerContext.view} */
type Show = (text: string, by: "lead" | "person") => void;

/** Checks the budgets of an agent, and notifies lead and person once when one is nearly and once when it is fully used up. */
class BudgetLimit {
  readonly #ref: TeamRef;
  readonly #name: string;
  readonly #show: Show;
  /** Message ids of the notifications that were shown. */
  readonly #shown = new Set<string>();

  constructor(ref: TeamRef, name: string, show: Show) {
    this.#ref = ref;
    this.#name = name;
    this.#show = show;
  }

  /**
   * Checks the spending so far.
   * @param onUsedUp called if a budget is used up, even if its notification then fails
   * @throws TeamError TEAM_NOT_FOUND, and errors of the lead's inbox; the next check repeats a notification that failed
   */
  async check(onUsedUp: () => void): Promise<void> {
    for (const budget of budgetsOf(this.#ref, this.#name)) {
      const { level, share } = budgetUse(budget.limits, budget.spent);
      if (level === "within") continue;
      if (level === "spent") onUsedUp();
      await this.#notifyOnce(budget, level, budgetSentence(this.#ref, budget, level, share));
    }
  }

  /** Shows a notification of this or another agent once in this agent's pane. @param event the message's id */
  showOnce(event: string, text: string, by: "lead" | "person" = "person"): void {
    if (this.#shown.has(event)) return;
    this.#shown.add(event);
    this.#show(text, by);
  }

  /**
   * Several members may notice the same state of the team's budget: the message's id makes it one message. A member without
   * budget is itself the sender, since the lead has to continue without it; any other notification comes from the system and
   * starts no turn.
   */
  async #notifyOnce({ member, limits }: Budget, level: BudgetLevel, text: string): Promise<void> {
    const event = eventMessageId("budget", member ?? "", level, JSON.stringify(defined(limits)));
    if (this.#shown.has(event)) return;
    const isStopped = level === "spent" && member !== undefined && member !== LEAD_NAME;
    await sendMessage(this.#ref, {
      from: isStopped ? member : SYSTEM_NAME,
      to: LEAD_NAME,
      text,
      messageId: event,
    });
    // A running lead notifies the user of a system message. A message from the agent itself only starts a turn of the lead.
    this.showOnce(event, text, isStopped ? "person" : "lead");
  }
}

function budgetSentence(
  { team }: TeamRef,
  { member, limits, spent }: Budget,
  level: BudgetLevel,
  share: number,
): string {
  const text = budgetText(limits, spent);
  const whose = member === undefined ? "The team" : member;
  if (level === "near") return `${whose} has used ${Math.floor(share * 100)} % of its budget: ${text}.`;
  const target = member === undefined ? optionWords("--team", team) : operand(`${member}@${team}`);
  const effect = member === undefined ? "all members stop" : "it stops";
  return `${whose} has used up its budget (${text}): ${effect} until a person raises the budget, with teams budget ${target} --max-tokens <tokens> or --max-cost <dollars>`;
}

/** The beginning of {@link budgetSentence}. */
const NOTIFICATION = /^(The team|\S+) has used (?:up its budget \(|\d+ % of its budget: )/;

/** Returns the text that replaces a notification after a raise; undefined if it is still true, or is not such a notification. */
function raisedText(ref: TeamRef, { from, text }: InboxEntry["message"]): string | undefined {
  const [start, whose = ""] = NOTIFICATION.exec(text) ?? [];
  const isOfTeam = whose === "The team";
  if (start === undefined || !teamExists(ref) || (from !== SYSTEM_NAME && !sameName(from, whose)))
    return undefined;
  const budget = budgetsOf(ref, isOfTeam ? LEAD_NAME : whose).find(
    ({ member }) => (member === undefined) === isOfTeam,
  );
  if (budget === undefined) return undefined;
  const { limits, spent } = budget;
  const { level } = budgetUse(limits, spent);
  if (level === "spent" || (level === "near" && start.includes("%"))) return undefined;
  return `A person has raised the budget of ${isOfTeam ? "the team" : whose}: ${budgetText(limits, spent)}.`;
}

/** Model calls that an agent without budget may make to answer a shutdown request: the tool call, and its last text. */
const MAX_OVERDRAFT_CALLS = 3;
/** Milliseconds between two checks while waiting for more budget, in case a ring is lost. */
const POLL_MS = 10_000;

/** Makes an agent wait before a model call that its budget does not cover, until there is more. */
export class BudgetWait {
  readonly #context: WorkerContext;
  readonly #limit: BudgetLimit;
  /** Rings for every waiting call: the agent and its subagents may wait at the same time. */
  readonly #moreBudget = new ManualBell(() => undefined);
  #isWaiting = false;
  /** Number of calls that wait, of the running turn and of background subagents. */
  #waitingCalls = 0;
  /** Calls that the running turn may still make without budget. */
  #overdraft = 0;

  constructor(context: WorkerContext) {
    const { ref, name, view } = context;
    this.#context = context;
    this.#limit = new BudgetLimit(ref, name, (text, by) => view.waiting(text, by));
  }

  /** Whether the agent waits for more budget. */
  get isWaiting(): boolean {
    return this.#isWaiting;
  }

  /** @param answersShutdown the turn reads a shutdown request: answering it may exceed the budget */
  startTurn(answersShutdown: boolean): void {
    this.#overdraft = answersShutdown ? MAX_OVERDRAFT_CALLS : 0;
  }

  /** Checks the spending, and notifies the lead and the person. @returns whether a budget is used up */
  async check(): Promise<boolean> {
    let isUsedUp = false;
    await this.#context.notifications.attempt(() =>
      this.#limit.check(() => {
        isUsedUp = true;
      }),
    );
    return isUsedUp;
  }

  /** @param isDue input for a turn is waiting @returns whether the turn has to wait for more budget */
  async mustWait(isDue: boolean): Promise<boolean> {
    const isChecked = isDue && !this.#mustYield;
    if (isChecked && (await this.check())) {
      this.#pause();
      return true;
    }
    // Between turns, a background subagent may still wait.
    if (isChecked || this.#waitingCalls === 0) this.#resume(isChecked);
    return false;
  }

  /**
   * Returns once the model may be called. While a budget is used up, the turn waits here for more; it stops if the worker ends
   * or a shutdown is requested.
   * @param signal of the turn: an interrupted one does not wait
   */
  async beforeCall(signal: AbortSignal): Promise<"go" | "stop"> {
    const stops = AbortSignal.any([signal, this.#context.signal]);
    while (await this.check()) {
      if (signal.aborted) return "go";
      if (this.#overdraft > 0) {
        this.#overdraft -= 1;
        return "go";
      }
      if (this.#mustYield) return "stop";
      this.#pause();
      this.#waitingCalls += 1;
      await this.#moreBudget.wait({ signal: stops, timeoutMs: POLL_MS });
      this.#waitingCalls -= 1;
    }
    this.#resume(true);
    return "go";
  }

  /** Checks the spending of a running turn whose calls do not wait here. @returns whether it must stop */
  async stopsTurn(): Promise<boolean> {
    if (!(await this.check())) return false;
    if (this.#overdraft === 0) return true;
    this.#overdraft -= 1;
    return false;
  }

  /**
   * Returns messages for a turn. Replaces the notification of a budget that a person has raised since then: a model that reads
   * that all members stop would stop, too.
   */
  upToDate(entries: readonly InboxEntry[]): readonly InboxEntry[] {
    return entries.map((entry) => {
      const raised = raisedText(this.#context.ref, entry.message);
      return raised === undefined ? entry : { ...entry, message: { ...entry.message, text: raised } };
    });
  }

  /** Shows another agent's notification of a budget. @param event its message's id */
  showOnce(event: string, text: string): void {
    this.#limit.showOnce(event, text);
  }

  /** Checks again: there may be more budget, or a reason to stop waiting. */
  recheck(): void {
    this.#moreBudget.ring();
  }

  /** Whether a waiting turn has to end: the worker ends, or a shutdown request waits. */
  get #mustYield(): boolean {
    const { lifecycle, queue } = this.#context;
    return !lifecycle.isRunning || queue.hasShutdown;
  }

  #pause(): void {
    const { status, events } = this.#context;
    // Reported again for a second caller: the agent and its subagents may stop one after another.
    if (status.state !== "paused") status.report("budget_spent", "its budget is spent");
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    events.record({ type: "agent", what: "paused" });
  }

  /** @param hasBudget false if it ends the wait for another reason, such as a shutdown request */
  #resume(hasBudget: boolean): void {
    if (!this.#isWaiting) return;
    this.#isWaiting = false;
    const { status, events, view, runningTurn } = this.#context;
    status.report(runningTurn.isActive ? "resumed" : "turn_ended", "");
    events.record({ type: "agent", what: "resumed" });
    if (hasBudget) view.note("there is budget again");
  }
}
