import type { Agent } from "../../agent/agent.ts";
import { toolResultsOf, toolUsesOf } from "../../agent/model/messages.ts";
import type { ConversationMessage } from "../../agent/model/model.ts";
import { fileSize } from "../../os/files/fs.ts";
import { peekInbox } from "../../team/inbox/inbox-file.ts";
import { messageKey } from "../../team/inbox/inbox-format.ts";
import { turnsOf } from "../../team/inbox/journal.ts";
import type { TeamRef } from "../../team/ref.ts";

/**
 * Times that one turn is begun in all. Its process was killed in each, and it may have been the turn that did it: a third
 * try tells chance from habit.
 */
const MAX_BEGUN = 3;

/** Whether an earlier process left a conversation; where there is none, nothing was cut off, and no agent need be loaded to see it. */
export function hasConversation(transcript: string): boolean {
  return fileSize(transcript) !== undefined;
}

/**
 * Whether the turn that a conversation ended with was cut off by its process's death: its messages are read, so that nobody
 * delivers them again, and no turn of theirs has ended. One of another team's messages is left alone.
 * @returns `again`: it may go on; `given-up`: it has been begun too often; undefined: nothing was cut off
 */
export function interruptedTurn(
  ref: TeamRef,
  name: string,
  { restoredKeys }: Pick<Agent, "restoredKeys">,
): "again" | "given-up" | undefined {
  // All of a turn have the same life.
  const [key] = restoredKeys;
  if (key === undefined) return undefined;
  const turns = turnsOf(ref, name, key);
  if (turns === undefined) {
    // A foreign writer's message is written down when it is marked: this one is about to be.
    return peekInbox(ref, name).some((message) => !message.read && messageKey(message) === key)
      ? "again"
      : undefined;
  }
  if (turns.isOver) return undefined;
  return turns.started < MAX_BEGUN ? "again" : "given-up";
}

/** Whether the last thing in a conversation is a plan that was sent: its verdict would have been the next turn. */
export function endsWithPlan(messages: readonly ConversationMessage[]): boolean {
  const [call, result] = messages.slice(-2);
  if (call?.role !== "assistant" || result?.role !== "user") return false;
  const sent = new Set(toolUsesOf(call).flatMap(({ id, name }) => (name === EXIT_PLAN_MODE ? [id] : [])));
  return toolResultsOf(result).some(({ toolUseId, isError }) => sent.has(toolUseId) && !isError);
}

const EXIT_PLAN_MODE = "ExitPlanMode";

/** The id of the shutdown request that the newest turn of a conversation began with, if it did. */
export function shutdownReadIn(messages: readonly ConversationMessage[]): string | undefined {
  const opening = messages.findLast((message) => message.role === "user" && message.origin !== undefined);
  return opening?.role === "user" ? opening.origin?.shutdown?.requestId : undefined;
}

/** Why a turn that was cut off too often is not tried again, for people. */
export const GIVEN_UP = `The agent's process ended ${MAX_BEGUN} times in the middle of this turn; it was not tried again.`;
