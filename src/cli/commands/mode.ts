import type { PeerAnswer } from "../../operations/peer-mode.ts";
import { changeMode } from "../../runtime/commands/change-mode.ts";
import { openAddress } from "../../runtime/select-team.ts";
import { PERMISSION_MODES } from "../../schema/permission-modes.ts";
import { modeSentence, UNKNOWN_ANSWER } from "../../terminal/mode-text.ts";
import { defineCommand, usageError } from "../command.ts";
export const command = defineCommand({
  name: "mode",
  summary: "Change an agent's permission mode while it runs",
  args: [
    { name: "agent", summary: "the member: name or name@team" },
    { name: "mode", summary: PERMISSION_MODES.join(", ") },
  ],
  options: {},
  examples: ["teams mode dev acceptEdits", "teams mode team-lead delegate", "teams mode dev@review plan"],
  notes: "The mode applies from the agent's next tool call, and stays after a restart.",
  async run(call) {
    const { args, options, io, out } = call;
    const mode = PERMISSION_MODES.find((one) => one === args.mode);
    if (mode === undefined)
      throw usageError(
        command,
        `has no mode ${JSON.stringify(args.mode)}; the modes are ${PERMISSION_MODES.join(", ")}.`,
      );
    const { member, ...open } = openAddress(io.env, options, args.agent);
    let peer: PeerAnswer | undefined;
    const change = await changeMode(call, open, member, mode, (answer) => {
      peer = answer;
    });
    out.done(change, () => modeSentence(change, peer));
    if (peer?.takes === "unknown" && out.json) out.note(UNKNOWN_ANSWER);
  },
});
