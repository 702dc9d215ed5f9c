import { EXIT, TeamError } from "../../errors.ts";
import { systemClock } from "../../os/clock.ts";
import { type ProtocolMessage, parseProtocol } from "../../protocol/messages.ts";
import { shownProse } from "../../protocol/render.ts";
import { agentIdentity, memberByAddress, type OpenTeam, openTeam } from "../../runtime/select-team.ts";
import type { DeliveryState } from "../../schema/inbox.ts";
import { LEAD_NAME, splitAddress } from "../../schema/names.ts";
import { isInboxBroken } from "../../team/inbox/inbox-file.ts";
import { isJournalled } from "../../team/inbox/inbox-recovery.ts";
import { history, type MailFeed, type MessageView, openMailFeed } from "../../team/mailbox/history.ts";
import { markAsRead, unreadMessages } from "../../team/mailbox/receive.ts";
import type { TeamRef } from "../../team/ref.ts";
import type { AnyCall } from "../../terminal/call.ts";
import { line, type Tint } from "../../terminal/paint.ts";
import { operand } from "../../text/shell-quote.ts";
import { stripControls } from "../../text/terminal-text.ts";
import { defineCommand } from "../define-command.ts";
import { follow } from "../follow-team.ts";
import { momentOption } from "../option-values.ts";

/** Messages that are shown without `--all`. */
const RECENT = 20;

export const command = defineCommand({
  name: "inbox",
  summary: "Read messages; the lead's by default",
  args: [{ name: "agent", summary: "whose inbox", optional: true }],
  options: {
    unread: { summary: "only unread ones" },
    from: { value: "member", summary: "only those from one sender" },
    since: { value: "time", summary: "since a time, or in the last so many seconds" },
    all: { summary: `the whole history instead of the last ${RECENT}` },
    follow: { short: "f", summary: "wait for more and print them as they come" },
    markRead: { summary: "mark what is shown as read" },
  },
  examples: ["teams inbox", "teams inbox reviewer --unread --json", "teams inbox -f --from tester"],
  async run(call) {
    const { args, options, io, out } = call;
    const address = args.agent;
    const open = openTeam(io.env, options, address === undefined ? undefined : splitAddress(address).team);
    const name = address === undefined ? open.actor : memberByAddress(open.ref, open.config, address).name;
    if (options.markRead) assertMayMark(open, name, agentIdentity(io.env) !== undefined);
    const since = momentOption(options.since, "since", systemClock.now());
    const filter = {
      unread: options.unread,
      ...(options.from === undefined ? {} : { from: splitAddress(options.from).name }),
      ...(since === undefined ? {} : { since }),
    };
    // Opened before the first look, so that nothing falls between the two.
    const feed = options.follow ? openMailFeed(open.ref, name, filter) : undefined;
    const found = await history(open.ref, name, { ...filter, all: options.all });
    const broken = isInboxBroken(open.ref, name) ? { broken: open.ref.paths.inbox(name) } : {};
    if (broken.broken !== undefined) out.note(brokenNote(broken.broken));
    const shown = options.all ? found : found.slice(-RECENT);
    if (options.markRead) await markRead(open.ref, name, shown);
    if (feed !== undefined) {
      feed.skip(found.map(({ id }) => id));
      for (const message of shown) printItem(message, call);
      return followInbox(call, open.ref, { name, feed, marks: options.markRead });
    }
    out.answer({ messages: shown, ...broken }, () => {
      if (shown.length > 0) return shown.map((message) => messageText(message, call)).join("\n\n");
      const which = options.unread ? "unread messages" : "messages";
      return line`No ${which} for ${name}.`;
    });
    return EXIT.done;
  },
});

/**
 * An agent consumes its messages itself, once they are in its conversation: marked by anybody else they would never reach it.
 * @param inAgentsShell whoever acts is an agent: nobody else's messages are its to take
 * @throws TeamError NOT_LEAD, INVALID_INPUT
 */
function assertMayMark({ ref, config, actor }: OpenTeam, name: string, inAgentsShell: boolean): void {
  const isOwn = inAgentsShell && name === actor;
  if (inAgentsShell && !isOwn) {
    throw new TeamError("NOT_LEAD", `The messages are ${name}'s, not ${actor}'s; nothing was marked.`, {
      hint: "Without --mark-read they are only shown.",
    });
  }
  const isLedByHand = name === LEAD_NAME && config.leadProcess === undefined;
  if (isOwn || isLedByHand || !isJournalled(ref, name)) return;
  throw new TeamError("INVALID_INPUT", `${name} reads its messages itself; nothing was marked.`, {
    hint: "A message that somebody else marks never reaches it. Without --mark-read they are only shown.",
  });
}

function brokenNote(path: string): string {
  return line`${path} is broken: what is whole in it is shown, and what the journal holds of the rest. The next message to it, or teams doctor --fix, repairs it.`;
}

interface Following {
  readonly name: string;
  readonly feed: MailFeed;
  readonly marks: boolean;
}

async function followInbox(call: AnyCall, ref: TeamRef, { name, feed, marks }: Following): Promise<number> {
  await follow(
    ref,
    async () => {
      const fresh = feed.poll();
      for (const message of fresh) printItem(message, call);
      if (marks) await markRead(ref, name, fresh);
      return false;
    },
    { signal: call.io.interruption() },
  );
  return EXIT.interrupted;
}

function printItem(message: MessageView, call: AnyCall): void {
  call.out.item(message, () => `${messageText(message, call)}\n`);
}

async function markRead(ref: TeamRef, name: string, shown: readonly MessageView[]): Promise<void> {
  if (shown.every(({ read }) => read)) return;
  const ids = new Set(shown.map(({ id }) => id));
  const keys = (await unreadMessages(ref, name)).map(({ key }) => key).filter((key) => ids.has(key));
  if (keys.length > 0) await markAsRead(ref, name, keys);
}

/** How far each message came, as its receiver says: what nobody has picked up stands out. */
const STATES: Readonly<Record<DeliveryState, readonly [string, Tint]>> = {
  queued: ["queued", "attention"],
  delivered: ["delivered", "quiet"],
  turn_started: ["in turn", "good"],
  done: ["done", "quiet"],
  bounced: ["bounced", "bad"],
};

/** One message with its head; a protocol message as words, and how its request is answered. */
function messageText(message: MessageView, { out }: AnyCall): string {
  const protocol = parseProtocol(message.text);
  const at = message.timestamp.replace("T", " ").replace(/\.\d+Z$/, " UTC");
  const state = out.paint(...STATES[message.state]);
  const summary = message.summary === undefined ? "" : line` - ${message.summary}`;
  const head = line`${out.paint(message.from, "bold", { member: message.color })} ${out.paint(at, "quiet")}`;
  // At the end what others wrote: none of it can pass for the way to answer.
  const words = protocol === undefined ? [message.text] : [...answerTo(protocol), shownProse(protocol)];
  const body = stripControls(words.join("\n"));
  return `${head} ${state.painted}${summary}\n${body.replace(/^/gm, "  ")}`;
}

/** How a person answers what asks the lead for something; nothing for any other message. */
function answerTo(message: ProtocolMessage): string[] {
  switch (message.type) {
    case "plan_approval_request":
      return [verdictOn(message.requestId)];
    case "permission_request":
      return [verdictOn(message.request_id)];
    case "question_request":
      return [`While it waits: teams approve ${operand(message.requestId)} --note "the answer"`];
    default:
      return [];
  }
}

function verdictOn(id: string): string {
  return `While it waits: teams approve ${operand(id)}   or: teams reject ${operand(id)} --note "why"`;
}
