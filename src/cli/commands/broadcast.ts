import { systemClock } from "../../os/clock.ts";
import { plainText } from "../../protocol/messages.ts";
import { noteRedacted } from "../../runtime/commands/redaction-note.ts";
import { openTeam } from "../../runtime/select-team.ts";
import { broadcast } from "../../team/mailbox/send.ts";
import { line } from "../../terminal/output.ts";
import { defineCommand } from "../command.ts";
import { textArgument } from "../option-values.ts";

export const command = defineCommand({
  name: "broadcast",
  summary: "Send a message to every running member except the sender",
  args: [{ name: "text", summary: "the message; - reads it from stdin", many: true }],
  options: { summary: { value: "text", summary: "the subject, in five to ten words" } },
  examples: [
    'teams broadcast "The build is green again."',
    "teams broadcast - --summary 'new plan' < plan.md",
  ],
  async run({ args, options, io, out }) {
    const { ref, actor } = openTeam(io.env, options);
    const text = plainText(await textArgument(io, args.text, "message"));
    const summary = options.summary === undefined ? {} : { summary: options.summary };
    const sent = await broadcast(ref, { from: actor, text, ...summary }, systemClock, (sentence) =>
      out.note(line`${sentence}`),
    );
    noteRedacted(text, out);
    out.done({ ...sent, team: ref.team, from: actor }, () => {
      const skipped =
        sent.skipped.length === 0 ? "" : line` Not running, so skipped: ${sent.skipped.join(", ")}.`;
      if (sent.recipients.length === 0) return `Not sent: no other member is running.${skipped}`;
      return line`Sent to ${sent.recipients.join(", ")}.` + skipped;
    });
  },
});
