import { recordPane } from "../../casts/recorder.ts";
import { parseRecording } from "../../casts/recording.ts";
import { EXIT } from "../../errors.ts";
import { defineCommand } from "../command.ts";

export const command = defineCommand({
  name: "record-pane",
  summary: "Record the output of a pane, from stdin (`run --rec` starts it)",
  args: [{ name: "recording", summary: "what is recorded, as JSON" }],
  options: {},
  examples: [
    `teams record-pane '{"path":"/tmp/ada.cast","pane":"%1","tty":"/dev/pts/3","size":"80x24",…}'`,
    "teams record-pane '{…}' < output",
  ],
  notes: "tmux starts it as the pipe of a pane (pipe-pane). It ends with the pane.",
  ignoresTeamOptions: true,
  async run({ args, io }) {
    const recording = parseRecording(args.recording);
    const end = await recordPane(io.bytesIn(), recording);
    if (end !== "pane ended") {
      const { closePipe } = await import("../../casts/close-pipe.ts");
      await closePipe(recording, end.why, io.env);
    }
    return EXIT.done;
  },
});
