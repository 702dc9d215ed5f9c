import { systemClock } from "../../os/clock.ts";
import { plainText } from "../../protocol/messages.ts";
import { noteRedacted } from "../../runtime/commands/redaction-note.ts";
import { openTeam } from "../../runtime/select-team.ts";
import { splitAddress } from "../../schema/names.ts";
import { sendMessage } from "../../team/mailbox/send.ts";
import { line } from "../../terminal/output.ts";
import { defineCommand } from "../command.ts";
import { textArgument } from "../option-values.ts";

export const command = defineCommand({
  name: "send",
  summary: "Send a message to a member",
  args: [
    { name: "agent", summary: "the recipient: name or name@team" },
    { name: "text", summary: "the message; - reads it from stdin", many: true },
  ],
  options: { summary: { value: "text", summary: "the subject, in five to ten words" } },
  examples: [
    'teams send reviewer "Look at src/auth first."',
    "git diff | teams send reviewer - --summary 'the diff'",
    'teams send --as tester dev@review -- "-x is the flag I meant"',
  ],
  async run({ args, options, io, out }) {
    const { ref, actor } = openTeam(io.env, options, splitAddress(args.agent));
    const text = plainText(await textArgument(io, args.text, "message"));
    const { name } = splitAddress(args.agent);
    const summary = options.summary === undefined ? {} : { summary: options.summary };
    const message = { from: actor, to: name, text, ...summary };
    const sent = await sendMessage(ref, message, systemClock, (sentence) => out.note(line`${sentence}`));
    noteRedacted(text, out);
    out.done({ ...sent, team: ref.team, from: actor }, () =>
      sent.queuedForRestart
        ? line`${sent.to} is not running; the message waits for its restart.`
        : line`Sent to ${sent.to}.`,
    );
  },
});
