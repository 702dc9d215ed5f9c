import * as z from "zod/mini";
import { PERSON_NAME } from "./names.ts";

/** One entry of an inbox. Every program writes `from`, `text` and `timestamp`; without `read` it is unread (interop.md). */
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

/** *Ours*: the `type` of a message that a person typed in an agent's pane. No tool and no command sends it, and only that agent reads it. */
export const TYPED = "typed";

/** True if a person typed this message in the pane of its recipient. */
export function isTyped({ from, type }: InboxMessage): boolean {
  return from === PERSON_NAME && type === TYPED;
}

/** The delivery states of a message, in order. */
const DELIVERY_STATES = ["queued", "delivered", "turn_started", "done", "bounced"] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** One line of `journal.jsonl`: a message, or a later state of one. */
export const journalLine = z.looseObject({
  at: z.number(),
  id: z.string(),
  to: z.string(),
  state: z.enum(DELIVERY_STATES),
  message: z.optional(inboxMessage),
});
export type JournalLine = z.infer<typeof journalLine>;
