import { EXIT } from "../../errors.ts";
import { follow } from "../../operations/follow-team.ts";
import { systemClock } from "../../os/clock.ts";
import { type ProtocolMessage, parseProtocol } from "../../protocol/messages.ts";
import { shownProse } from "../../protocol/render.ts";
import { isLedByHand, markRead, requireMayMark } from "../../runtime/commands/mark-read.ts";
import { agentIdentity, memberByAddress, openTeam } from "../../runtime/select-team.ts";
import type { DeliveryState } from "../../schema/inbox.ts";
import { splitAddress } from "../../schema/names.ts";
import { assertTeam } from "../../team/config/team-lock.ts";
import { isInboxBroken } from "../../team/inbox/inbox-file.ts";
import { history, type MailFeed, type MessageView, openMailFeed } from "../../team/mailbox/history.ts";
import type { TeamRef } from "../../team/ref.ts";
import type { AnyCall } from "../../terminal/call.ts";
import { line, type TextStyle } from "../../terminal/output.ts";
import { localTime } from "../../text/local-time.ts";
import { operand } from "../../text/shell-quote.ts";
import { stripControls } from "../../text/terminal-text.ts";
import { defineCommand } from "../command.ts";
import { timeOption } from "../option-values.ts";

/** Maximum messages shown without `--all`. */
const RECENT = 20;

export const command = defineCommand({
  name: "inbox",
  summary: "Show the messages of a member (default: the lead)",
  args: [{ name: "agent", summary: "the member: name or name@team (default: you)", optional: true }],
  options: {
    unread: { summary: "only unread messages" },
    from: { value: "member", summary: "only messages from this sender" },
    since: { value: "time", summary: "only messages after this time, or from the last <time> seconds" },
    all: { summary: `show the whole history instead of the last ${RECENT} messages` },
    follow: { short: "f", summary: "keep printing new messages" },
    markRead: {
      summary: "mark the shown messages as read; on a terminal, those of your own inbox always are",
    },
  },
  examples: ["teams inbox", "teams inbox reviewer --unread --json", "teams inbox -f --from tester"],
  async run(call) {
    const { args, options, io, out } = call;
    const address = args.agent;
    const open = openTeam(io.env, options, address === undefined ? undefined : splitAddress(address));
    const name = address === undefined ? open.actor : memberByAddress(open.ref, open.config, address).name;
    const inAgentsShell = agentIdentity(io.env) !== undefined;
    if (options.markRead) requireMayMark(open, name, inAgentsShell);
    const isSeen = isLedByHand(open, name) && !inAgentsShell && io.terminal.stdout && !out.json;
    const mark = marker(call, open.ref, name, options.markRead || isSeen);
    const since = timeOption(options.since, "since", systemClock.now());
    const filter = {
      unread: options.unread,
      ...(options.from === undefined ? {} : { from: splitAddress(options.from).name }),
      ...(since === undefined ? {} : { since }),
    };
    // Opened before the history is read, so that no message is missed in between.
    const feed = options.follow ? openMailFeed(open.ref, name, filter) : undefined;
    const found = await history(open.ref, name, { ...filter, all: options.all });
    const broken = isInboxBroken(open.ref, name) ? { broken: open.ref.paths.inbox(name) } : {};
    if (broken.broken !== undefined) out.note(brokenNote(broken.broken));
    const shown = options.all ? found : found.slice(-RECENT);
    if (shown.length < found.length) out.note(olderNote(found.length - shown.length));
    if (feed !== undefined) {
      feed.skip(found.map(({ id }) => id));
      for (const message of shown) printItem(message, call);
      await mark(shown);
      return followInbox(call, open.ref, feed, mark);
    }
    out.answer({ messages: shown, ...broken }, () => {
      if (shown.length > 0) return shown.map((message) => messageText(message, call)).join("\n\n");
      const which = options.unread ? "unread messages" : "messages";
      return line`No ${which} for ${name}.`;
    });
    await mark(shown);
    return EXIT.done;
  },
});

function brokenNote(path: string): string {
  return line`${path} is broken: only messages that can be read there or in the journal are shown. The next message to this inbox, or teams doctor --fix, repairs the file.`;
}

function olderNote(count: number): string {
  return `${count} older ${count === 1 ? "message is" : "messages are"} not shown: add --all.`;
}

/** Marks messages as read. Called after they are printed: if this fails or is interrupted, no message is lost. */
type Mark = (printed: readonly MessageView[]) => Promise<void>;

/** @param marks false: the command marks nothing */
function marker({ out }: AnyCall, ref: TeamRef, name: string, marks: boolean): Mark {
  return async (printed) => {
    if (marks) await markRead(ref, name, printed, (repair) => out.note(line`${repair}`));
  };
}

async function followInbox(call: AnyCall, ref: TeamRef, feed: MailFeed, mark: Mark): Promise<number> {
  await follow(
    ref,
    async () => {
      const fresh = feed.poll();
      for (const message of fresh) printItem(message, call);
      await mark(fresh);
      assertTeam(ref);
      return false;
    },
    { signal: call.io.interruption() },
  );
  return EXIT.interrupted;
}

function printItem(message: MessageView, call: AnyCall): void {
  call.out.item(message, () => `${messageText(message, call)}\n`);
}

/** Delivery states as the recipient reports them; messages that are not picked up get the brightest colour. */
const STATES: Readonly<Record<DeliveryState, readonly [string, TextStyle]>> = {
  queued: ["queued", "attention"],
  delivered: ["delivered", "quiet"],
  turn_started: ["in turn", "good"],
  done: ["done", "quiet"],
  bounced: ["bounced", "bad"],
};

/** Formats one message with its head; a protocol message as text, with the command that answers its request. */
function messageText(message: MessageView, { out }: AnyCall): string {
  const protocol = parseProtocol(message.text);
  const at = localTime(message.timestamp, "seconds");
  const state = out.styleText(...STATES[message.state]);
  const summary = message.summary === undefined ? "" : line` - ${message.summary}`;
  const head = line`${out.styleText(message.from, "bold", { member: message.color })} ${out.styleText(at, "quiet")}`;
  // The sender's text comes last: it cannot pretend to be the command for the answer.
  const words = protocol === undefined ? [message.text] : [...answerHint(protocol), shownProse(protocol)];
  const body = stripControls(words.join("\n"));
  return `${head} ${state.styled}${summary}\n${body.replace(/^/gm, "  ")}`;
}

/** Returns the command that answers a request to the lead; an empty list for any other message. */
function answerHint(message: ProtocolMessage): string[] {
  switch (message.type) {
    case "plan_approval_request":
      return [verdictHint(message.requestId)];
    case "permission_request":
      return [
        `While it waits: teams approvals ${operand(message.request_id)} shows the call and how to answer`,
      ];
    case "question_request":
      return [`While it waits: teams approve ${operand(message.requestId)} --note "the answer"`];
    default:
      return [];
  }
}

function verdictHint(id: string): string {
  return `While it waits: teams approve ${operand(id)}   or: teams reject ${operand(id)} --note "why"`;
}
