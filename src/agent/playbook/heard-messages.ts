import { readEnvelopes } from "../../protocol/envelope.ts";
import type { Playbook, Turn } from "../../schema/playbook.ts";
import { messageText } from "../model/messages.ts";
import type { ConversationMessage } from "../model/model.ts";
import { turnAt } from "./placeholder-values.ts";

/** The messages of one input, each by itself; none where it holds the results of tools alone. */
export function messagesIn(input: ConversationMessage | undefined): string[] {
  if (input?.role !== "user" || input.origin === undefined) return [];
  return readEnvelopes(messageText(input)).map((part) => ("from" in part ? part.body : part.text).trim());
}

/**
 * What has come and was answered by no turn: each turn that a message began answers it, and the first one of a conversation
 * the message that this began with.
 */
export function unanswered(playbook: Playbook, conversation: readonly ConversationMessage[]): string[] {
  let open: string[] = [];
  for (const message of conversation) {
    if (message.role === "user") {
      open.push(...messagesIn(message));
      continue;
    }
    const turn =
      message.turn === undefined || message.unfinished ? undefined : turnAt(playbook, message.turn);
    if (turn === undefined) continue;
    open = turn.on === undefined ? open.slice(1) : (without(open, turn.on.heard ?? []) ?? open);
  }
  return open;
}

/** Whether all that a turn waits for has come; also for one that waits for none. */
export function hasHeard({ on }: Turn, open: readonly string[]): boolean {
  return on?.heard === undefined || without(open, on.heard) !== undefined;
}

/** The messages but for one for each pattern, the oldest that fits; undefined where one has none. */
function without(open: readonly string[], patterns: readonly string[]): string[] | undefined {
  const left = [...open];
  for (const pattern of patterns) {
    const at = left.findIndex((text) => new RegExp(pattern, "u").test(text));
    if (at < 0) return undefined;
    left.splice(at, 1);
  }
  return left;
}
