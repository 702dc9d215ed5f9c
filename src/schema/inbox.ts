import * as z from "zod/mini";
import { PERSON_NAME } from "./names.ts";

/** One entry of an inbox; `from`, `text`, `timestamp` are what every peer writes, `read` absent means unread (interop.md). */
export const inboxMessage = z.looseObject({
  from: z.string(),
  text: z.string(),
  timestamp: z.string(),
  read: z._default(z.boolean(), false),
  color: z.optional(z.string()),
  summary: z.optional(z.string()),
  msgV: z.optional(z.number()),
  msg_id: z.optional(z.string()),
  type: z.optional(z.string()),
});
export type InboxMessage = z.infer<typeof inboxMessage>;

/** *Ours*: the `type` of what a person typed in an agent's own pane. No tool and no command sends it, and only that agent reads it. */
export const TYPED = "typed";

/** Whether a person typed this in the pane of the agent that reads it. */
export function isTyped({ from, type }: InboxMessage): boolean {
  return from === PERSON_NAME && type === TYPED;
}

/** What became of a message, in order (issue: the delivery chain). */
export const DELIVERY_STATES = ["queued", "delivered", "turn_started", "done", "bounced"] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** One line of `journal.jsonl`: a message, or what became of one. */
export const journalLine = z.looseObject({
  at: z.number(),
  id: z.string(),
  to: z.string(),
  state: z.enum(DELIVERY_STATES),
  message: z.optional(inboxMessage),
});
export type JournalLine = z.infer<typeof journalLine>;
