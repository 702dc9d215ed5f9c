import { authenticProtocol } from "../../protocol/authenticate.ts";
import { parseProtocol } from "../../protocol/messages.ts";
import type { TeamMember } from "../../schema/config.ts";
import { journalForm } from "../../schema/guards/inbox.ts";
import type { InboxMessage } from "../../schema/inbox.ts";
import { LEAD_NAME, splitAddress } from "../../schema/names.ts";
import { jsonLinesBackwards } from "../../store/jsonl.ts";
import { peekInbox } from "../inbox/inbox-file.ts";
import { messageKey, sentAt } from "../inbox/inbox-format.ts";
import type { ForeignFacts, TurnEnd } from "../members/judge-foreign.ts";
import type { TeamRef } from "../ref.ts";

/** The signs of a foreign member's turns in its messages and in those to it. */
export type ForeignSigns = Pick<
  ForeignFacts,
  "agreedToStop" | "turnEnds" | "taken" | "continuedAt" | "saidAt" | "unread"
>;

/** Bytes at the journal's end that are searched: a few thousand messages of the team. */
const JOURNAL_BYTES = 1024 * 1024;
/** This many messages from and to a member are enough to judge its last turns. */
const ENOUGH = 60;

/** Messages that let a waiting turn continue. */
const CONTINUES: ReadonlySet<string> = new Set(["permission_response", "sandbox_permission_response"]);
/** Messages that start no turn. */
const STARTS_NOTHING: ReadonlySet<string> = new Set([
  ...CONTINUES,
  "mode_set_request",
  "team_permission_update",
]);

/**
 * Reads the signs of a foreign member's turns from both inboxes and the end of the journal: a message leaves the inbox when a newer
 * peer takes it, and later when our lead reads it. Messages of an earlier holder of the name are ignored.
 */
export function foreignSigns(ref: TeamRef, { name, joinedAt }: TeamMember): ForeignSigns {
  const inbox = peekInbox(ref, name);
  const waiting = new Set(inbox.filter(({ read }) => !read).map(messageKey));
  const sent = new Map<string, InboxMessage>();
  const received = new Map<string, InboxMessage>();
  let found = 0;
  const lines = jsonLinesBackwards(ref.paths.journal, journalForm, {
    contains: JSON.stringify(name),
    maxBytes: JOURNAL_BYTES,
  });
  for (const { at, id, to, state, message } of lines) {
    if (message === undefined || state === "bounced") continue;
    if (to === LEAD_NAME && isFrom(message, name)) sent.set(id, message);
    else if (to === name && !waiting.has(id)) received.set(id, message);
    else continue;
    found += 1;
    // The time of the line: that of a message may be invalid, or of another clock.
    if (found >= ENOUGH || at < joinedAt) break;
  }
  for (const message of peekInbox(ref, LEAD_NAME))
    if (isFrom(message, name)) sent.set(messageKey(message), message);
  for (const message of inbox) if (message.read) received.set(messageKey(message), message);
  return {
    ...signsOfSent(newer(sent.values(), joinedAt)),
    ...signsOfReceived(newer(received.values(), joinedAt)),
    unread: waiting.size,
  };
}

function isFrom({ from }: InboxMessage, name: string): boolean {
  return splitAddress(from).name === name;
}

function newer(messages: Iterable<InboxMessage>, joinedAt: number): InboxMessage[] {
  return [...messages].filter((message) => sentAt(message) >= joinedAt).sort((a, b) => sentAt(a) - sentAt(b));
}

function signsOfSent(
  messages: readonly InboxMessage[],
): Pick<ForeignSigns, "turnEnds" | "saidAt" | "agreedToStop"> {
  const turnEnds: TurnEnd[] = [];
  let saidAt: number | undefined;
  let agreedToStop = false;
  for (const message of messages) {
    const protocol = authenticProtocol(message, LEAD_NAME);
    const at = sentAt(message);
    agreedToStop = protocol?.type === "shutdown_approved";
    if (protocol?.type !== "idle_notification") {
      saidAt = at;
      continue;
    }
    const { idleReason, failureReason } = protocol;
    const failure = idleReason === "failed" ? (failureReason ?? "no reason given") : undefined;
    const interrupted = idleReason === "interrupted";
    turnEnds.push({ at, ...(failure === undefined ? {} : { failure }), ...(interrupted && { interrupted }) });
  }
  return { turnEnds, saidAt, agreedToStop };
}

function signsOfReceived(messages: readonly InboxMessage[]): Pick<ForeignSigns, "taken" | "continuedAt"> {
  const taken: number[] = [];
  let continuedAt: number | undefined;
  for (const message of messages) {
    const type = parseProtocol(message.text)?.type ?? "";
    if (CONTINUES.has(type)) continuedAt = sentAt(message);
    if (!STARTS_NOTHING.has(type)) taken.push(sentAt(message));
  }
  return { taken, continuedAt };
}
