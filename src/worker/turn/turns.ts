import { messageOf } from "../../errors.ts";
import { steadyNow } from "../../os/clock.ts";
import { newUuid } from "../../os/process/identity.ts";
import { shownProse } from "../../protocol/render.ts";
import { isTyped } from "../../schema/inbox.ts";
import type { InboxEntry } from "../../team/mailbox/receive.ts";
import type { WorkerContext } from "../context.ts";
import type { WorkerGates } from "../gates/gates.ts";
import type { TeamRoster } from "../prompts/roster.ts";
import type { TurnMaterial } from "../turn-queue.ts";
import type { TurnSummary } from "./idle-notice.ts";
import {
  endsWithPlan,
  GIVEN_UP,
  hasConversation,
  interruptedTurn,
  shutdownRequestIn,
} from "./interrupted-turn.ts";
import { TurnEnd } from "./turn-end.ts";
import { composeTurn } from "./turn-input.ts";

interface TurnFacts {
  readonly keys: readonly string[];
  /** Number of messages that the turn began with. */
  readonly messages: number;
  readonly answersShutdown: boolean;
}

/** Runs the turns of a worker, one at a time. */
export class Turns {
  readonly end: TurnEnd;
  /** Set when the agent is created. */
  roster: TeamRoster | undefined;
  readonly #context: WorkerContext;
  readonly #gates: WorkerGates;

  constructor(context: WorkerContext, gates: WorkerGates) {
    this.#context = context;
    this.#gates = gates;
    this.end = new TurnEnd(context, gates);
  }

  /** Restores the waits of an earlier process of this agent. Call it before the inbox is read, which may contain a plan's verdict. */
  restoreWaits(): void {
    if (!hasConversation(this.#context.transcript)) return;
    this.#gates.planApproval.restoreAnsweredRequest();
    this.#gates.questions.restoreDeadlines();
  }

  /** Resumes the turn in which an earlier process of this agent ended: its messages are marked as read already. */
  async resumeInterruptedTurn(): Promise<void> {
    const { ref, name, view, status, transcript, notifications, shutdownRequests } = this.#context;
    const { planApproval, budget } = this.#gates;
    if (!hasConversation(transcript)) return;
    // Until the conversation is read, the agent must not be reported as idle.
    status.report("turn_started", "checks for an interrupted turn");
    const agent = await this.#context.agent.get();
    const interrupted = interruptedTurn(ref, name, agent);
    // The conversation of a CLI does not show its calls.
    const hasVerdict = this.#context.awaitsAgent === true && planApproval.isWaiting;
    const waitsForVerdict = hasVerdict || endsWithPlan(agent.messages);
    await notifications.attempt(() => planApproval.resume(waitsForVerdict));
    if (interrupted === undefined) {
      return status.report("turn_ended", planApproval.isWaiting ? undefined : "");
    }
    const { restoredKeys: keys } = agent;
    const shutdownRequest = shutdownRequestIn(agent.messages);
    if (shutdownRequest !== undefined) shutdownRequests.add(shutdownRequest);
    budget.startTurn(shutdownRequest !== undefined);
    view.note("resumes the turn in which its process ended");
    status.report("turn_started", "resumes its turn", keys.length);
    const answersShutdown = shutdownRequest !== undefined;
    await this.#inTurn({ keys, messages: keys.length, answersShutdown }, async (signal) => {
      // The plan was sent: nothing was left to do in this turn.
      if (waitsForVerdict) return { outcome: "completed", text: "", toolCalls: 0 };
      if (interrupted === "given-up") {
        view.error(GIVEN_UP);
        return { outcome: "failed", failure: GIVEN_UP, text: "", toolCalls: 0 };
      }
      await notifications.recordProgress(keys, "turn_started");
      return agent.resumeTurn(signal);
    });
    if (answersShutdown) await this.#leaveShutdownUnanswered();
  }

  async run(material: TurnMaterial): Promise<void> {
    const { view, status } = this.#context;
    const { taskEnds } = material;
    const entries = this.#gates.budget.upToDate(material.entries);
    const composed = composeTurn({ ...material, entries });
    // A turn without messages gets a new key, so that it can be resumed like any other.
    const input = composed.keys.length > 0 ? composed : { ...composed, keys: [newUuid()] };
    const answersShutdown = entries.some(({ protocol }) => protocol?.type === "shutdown_request");
    this.#gates.budget.startTurn(answersShutdown);
    this.end.idleHook?.startTurn(entries.length === 0 && taskEnds.length === 0);
    const received = entries.filter(({ message }) => !isTyped(message));
    const facts = { keys: input.keys, messages: received.length, answersShutdown };
    await this.#inTurn(facts, async (signal) => {
      for (const entry of received) this.#showReceived(entry);
      for (const { what, how } of taskEnds) view.note(`ended in the background: ${what}: ${how}`);
      for (const { message, key } of entries) if (isTyped(message)) view.typed(message.text, key);
      status.report("turn_started", `reads: ${input.origin.text}`, entries.length);
      const agent = await this.#context.agent.get();
      const changes = this.roster?.takeChanges();
      const text = changes === undefined ? input.text : `${changes}\n\n${input.text}`;
      return agent.run({ ...input, text, isLast: answersShutdown }, signal);
    });
    if (answersShutdown) await this.#leaveShutdownUnanswered();
  }

  /** Runs the next action of a person on the agent, if one is queued; Esc interrupts it. @returns whether one was queued */
  async act(): Promise<boolean> {
    const { queue, runningTurn, status, view, agent } = this.#context;
    const action = queue.takeAction();
    if (action === undefined) return false;
    const signal = runningTurn.begin([], false);
    status.report("turn_started", action.activity);
    try {
      await action.act(await agent.get(), signal);
    } catch (error) {
      view.error(messageOf(error));
    } finally {
      runningTurn.end();
      status.report("turn_ended", this.#gates.planApproval.isWaiting ? undefined : "");
    }
    return true;
  }

  /** Reports a turn that began without this worker, until its end. @returns whether there was one */
  async observe(): Promise<boolean> {
    const follow = this.#context.queue.takeOwnTurn();
    if (follow === undefined) return false;
    await this.#inTurn({ keys: [newUuid()], messages: 0, answersShutdown: false }, (signal) => {
      this.#context.status.report("turn_started", "works on what a person typed");
      return follow(signal);
    });
    return true;
  }

  async #leaveShutdownUnanswered(): Promise<void> {
    const { shutdownRequests, agreesUnanswered, agreeToShutdown } = this.#context;
    const open = shutdownRequests.newest;
    const isUnable = this.#gates.accountLimit.current?.hasStoppedTurn === true;
    if (open !== undefined && (agreesUnanswered === true || isUnable)) {
      await agreeToShutdown?.(open);
      shutdownRequests.close(open);
    }
    shutdownRequests.leaveUnanswered();
  }

  #showReceived({ message, protocol }: InboxEntry): void {
    const text = protocol === undefined ? message.text : shownProse(protocol);
    this.#context.view.received(message.from, text, message.color);
  }

  /** Runs a turn with these messages, and settles its end; does nothing if the team is gone. */
  async #inTurn(
    { keys, messages, answersShutdown }: TurnFacts,
    act: (signal: AbortSignal) => Promise<TurnSummary>,
  ): Promise<void> {
    const { notifications, lifecycle, runningTurn } = this.#context;
    await notifications.setActive(this.#gates.planApproval.changedMode);
    if (!lifecycle.isRunning) return;
    const signal = runningTurn.begin(keys, answersShutdown);
    try {
      const result = await this.#recordTurn(messages, () => act(signal));
      await this.end.settle(result, keys, signal);
    } finally {
      runningTurn.end();
    }
  }

  async #recordTurn(messages: number, act: () => Promise<TurnSummary>): Promise<TurnSummary> {
    const { events } = this.#context;
    const startedAt = steadyNow();
    events.record({ type: "agent", what: "turn_started", messages });
    const result = await act();
    const ms = Math.round(steadyNow() - startedAt);
    const { outcome, toolCalls } = result;
    events.record({ type: "agent", what: "turn_ended", outcome, toolCalls, ms });
    return result;
  }
}
