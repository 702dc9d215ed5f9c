import { EXIT } from "../../errors.ts";
import { systemClock } from "../../os/clock.ts";
import { stripControls } from "../../os/terminal-text.ts";
import { parseProtocol } from "../../protocol/messages.ts";
import { proseOf } from "../../protocol/prose.ts";
import { splitAddress } from "../../schema/names.ts";
import { acknowledge, history, pending } from "../../team/mailbox.ts";
import type { MessageView } from "../../team/message-view.ts";
import type { TeamRef } from "../../team/ref.ts";
import { type AnyCall, defineCommand } from "../command.ts";
import { follow } from "../follow.ts";
import { line } from "../paint.ts";
import { memberOf, type OpenTeam, openTeam } from "../team.ts";
import { momentOption } from "../text.ts";

/** Messages that are shown without `--all`. */
const RECENT = 20;

export const command = defineCommand({
  name: "inbox",
  summary: "Read messages; the lead's by default",
  args: [{ name: "agent", summary: "whose inbox", optional: true }],
  options: {
    unread: { summary: "only those that were not read yet" },
    from: { value: "member", summary: "only those of one sender" },
    since: { value: "time", summary: "from a time on, or of the last so many seconds" },
    all: { summary: `the whole history instead of the last ${RECENT}` },
    follow: { short: "f", summary: "wait for more and print them as they come" },
    markRead: { summary: "mark what is shown as read" },
  },
  examples: ["teams inbox", "teams inbox reviewer --unread --json", "teams inbox -f --from tester"],
  async run(call) {
    const { args, options, io, out } = call;
    const address = args.agent;
    const open = openTeam(io.env, options, address === undefined ? undefined : splitAddress(address).team);
    const name = address === undefined ? open.actor : memberOf(open.ref, open.config, address).name;
    const since = momentOption(options.since, "since", systemClock.now());
    const read = (): Promise<readonly MessageView[]> =>
      history(open.ref, name, {
        unread: options.unread,
        ...(options.from === undefined ? {} : { from: splitAddress(options.from).name }),
        ...(since === undefined ? {} : { since }),
        all: options.all,
      });
    const found = await read();
    const shown = options.all ? found : found.slice(-RECENT);
    if (options.follow) {
      const seen = new Set(found.slice(0, found.length - shown.length).map(({ id }) => id));
      return followInbox(call, open, { name, read, seen, marks: options.markRead });
    }
    if (options.markRead) await markRead(open.ref, name, shown);
    out.answer({ messages: shown }, () => {
      if (shown.length > 0) return shown.map((message) => messageText(message, call)).join("\n\n");
      const which = options.unread ? "unread messages" : "messages";
      return line`No ${which} for ${name}.`;
    });
    return EXIT.done;
  },
});

interface Following {
  readonly name: string;
  read(): Promise<readonly MessageView[]>;
  /** Ids of what is not to be printed, or was. */
  readonly seen: Set<string>;
  readonly marks: boolean;
}

async function followInbox(call: AnyCall, { ref }: OpenTeam, following: Following): Promise<number> {
  const { name, read, seen, marks } = following;
  await follow(
    ref,
    async () => {
      const fresh = (await read()).filter(({ id }) => !seen.has(id));
      for (const message of fresh) {
        seen.add(message.id);
        call.out.item(message, () => `${messageText(message, call)}\n`);
      }
      if (marks) await markRead(ref, name, fresh);
      return false;
    },
    { signal: call.io.interruption() },
  );
  return EXIT.interrupted;
}

async function markRead(ref: TeamRef, name: string, shown: readonly MessageView[]): Promise<void> {
  const ids = new Set(shown.map(({ id }) => id));
  const keys = (await pending(ref, name)).map(({ key }) => key).filter((key) => ids.has(key));
  if (keys.length > 0) await acknowledge(ref, name, keys);
}

/** One message with its head; a protocol message as the prose that a model reads too. */
function messageText(message: MessageView, { out }: AnyCall): string {
  const protocol = parseProtocol(message.text);
  const at = message.timestamp.replace("T", " ").replace(/\.\d+Z$/, " UTC");
  const mark = message.read ? "" : line` ${out.paint("new", "attention")}`;
  const summary = message.summary === undefined ? "" : line` - ${message.summary}`;
  const head = line`${out.paint(message.from, "bold", { member: message.color })} ${out.paint(at, "quiet")}`;
  const body = stripControls(protocol === undefined ? message.text : proseOf(protocol));
  return `${head}${mark}${summary}\n${body.replace(/^/gm, "  ")}`;
}
