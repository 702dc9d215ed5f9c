import type { Agent } from "../../agent/agent.ts";
import { toolResultsOf, toolUsesOf } from "../../agent/model/messages.ts";
import type { ConversationMessage } from "../../agent/model/model.ts";
import { fileSize } from "../../os/files/fs.ts";
import { peekInbox } from "../../team/inbox/inbox-file.ts";
import { messageKey } from "../../team/inbox/inbox-format.ts";
import { turnsOf } from "../../team/inbox/journal.ts";
import type { TeamRef } from "../../team/ref.ts";

/** Maximum number of starts of one turn: after three killed processes the turn itself is probably the cause. */
const MAX_STARTS = 3;

/** Whether an earlier process left a conversation. If not, no turn was interrupted, and the agent need not be loaded. */
export function hasConversation(transcript: string): boolean {
  return fileSize(transcript) !== undefined;
}

/**
 * Checks whether the process ended during the last turn of a conversation: its messages are marked as read, and the journal has
 * no end of their turn. A turn with messages of another team is ignored.
 * @returns `again`: resume it; `given-up`: it was started too often; undefined: no turn was interrupted
 */
export function interruptedTurn(
  ref: TeamRef,
  name: string,
  { restoredKeys }: Pick<Agent, "restoredKeys">,
): "again" | "given-up" | undefined {
  // All messages of a turn share their progress.
  const [key] = restoredKeys;
  if (key === undefined) return undefined;
  const turns = turnsOf(ref, name, key);
  if (turns === undefined) {
    // A foreign writer's message enters the journal when it is marked as read, which has not happened yet.
    return peekInbox(ref, name).some((message) => !message.read && messageKey(message) === key)
      ? "again"
      : undefined;
  }
  if (turns.isOver) return undefined;
  return turns.started < MAX_STARTS ? "again" : "given-up";
}

/** Whether a conversation ends with a plan that was sent: the next turn would have been its verdict. */
export function endsWithPlan(messages: readonly ConversationMessage[]): boolean {
  const [call, result] = messages.slice(-2);
  if (call?.role !== "assistant" || result?.role !== "user") return false;
  const sent = new Set(toolUsesOf(call).flatMap(({ id, name }) => (name === EXIT_PLAN_MODE ? [id] : [])));
  return toolResultsOf(result).some(({ toolUseId, isError }) => sent.has(toolUseId) && !isError);
}

const EXIT_PLAN_MODE = "ExitPlanMode";

/** Returns the id of the shutdown request in the input of the newest turn, if there is one. */
export function shutdownRequestIn(messages: readonly ConversationMessage[]): string | undefined {
  const opening = messages.findLast((message) => message.role === "user" && message.origin !== undefined);
  return opening?.role === "user" ? opening.origin?.shutdown?.requestId : undefined;
}

/** Shown to people for a turn that was started too often. */
export const GIVEN_UP = `The agent's process ended ${MAX_STARTS} times during this turn; the turn is not resumed again.`;
