import { readEnvelopes } from "../../protocol/envelope.ts";
import type { Playbook, PlaybookTurn } from "../../schema/playbook.ts";
import { messageText } from "../model/messages.ts";
import type { ConversationMessage } from "../model/model.ts";
import { turnAt } from "./placeholder-values.ts";

/** Returns the separate messages of one input; empty if it contains only tool results. */
export function messagesIn(input: ConversationMessage | undefined): string[] {
  if (input?.role !== "user" || input.origin === undefined) return [];
  return readEnvelopes(messageText(input)).map((part) => ("from" in part ? part.body : part.text).trim());
}

/**
 * Returns the messages that no turn has answered. A turn with `heard` answers one message for each pattern; a turn
 * without `on` answers the oldest message.
 */
export function unansweredMessages(
  playbook: Playbook,
  conversation: readonly ConversationMessage[],
): string[] {
  let open: string[] = [];
  for (const message of conversation) {
    if (message.role === "user") {
      open.push(...messagesIn(message));
      continue;
    }
    const turn =
      message.turn === undefined || message.unfinished ? undefined : turnAt(playbook, message.turn);
    if (turn === undefined) continue;
    open = turn.on === undefined ? open.slice(1) : (removeMatched(open, turn.on.heard ?? []) ?? open);
  }
  return open;
}

/** Returns true if every message that the turn waits for has arrived, or if it waits for no message. */
export function isSatisfied({ on }: PlaybookTurn, open: readonly string[]): boolean {
  return on?.heard === undefined || removeMatched(open, on.heard) !== undefined;
}

/** Removes the oldest matching message for each pattern; undefined if a pattern matches no message. */
function removeMatched(open: readonly string[], patterns: readonly string[]): string[] | undefined {
  const left = [...open];
  for (const pattern of patterns) {
    const at = left.findIndex((text) => new RegExp(pattern, "u").test(text));
    if (at < 0) return undefined;
    left.splice(at, 1);
  }
  return left;
}
