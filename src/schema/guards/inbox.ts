import {
  type DeliveryState,
  type InboxMessage,
  inboxMessage,
  type JournalLine,
  journalLine,
} from "../inbox.ts";
import { type Form, isFlag, isNumber, isText, looseObject, oneOf, optional } from "./guard.ts";

/** The order of the delivery states. */
export const STATE_RANKS: Readonly<Record<DeliveryState, number>> = {
  queued: 0,
  delivered: 1,
  turn_started: 2,
  done: 3,
  bounced: 4,
};

const isMessage = looseObject<InboxMessage>({
  from: isText,
  text: isText,
  timestamp: isText,
  read: isFlag,
  color: optional(isText),
  summary: optional(isText),
  msgV: optional(isNumber),
  msg_id: optional(isText),
  type: optional(isText),
});

export const messageForm: Form<InboxMessage> = { guard: isMessage, schema: () => inboxMessage };

export const journalForm: Form<JournalLine> = {
  guard: looseObject<JournalLine>({
    at: isNumber,
    id: isText,
    to: isText,
    state: oneOf(STATE_RANKS),
    message: optional(isMessage),
  }),
  schema: () => journalLine,
};
