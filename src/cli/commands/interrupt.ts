import { type InterruptReport, interruptAgent } from "../../operations/interrupt.ts";
import { filesContext } from "../../runtime/operation-context.ts";
import { memberByAddress, openTeam } from "../../runtime/select-team.ts";
import { splitAddress } from "../../schema/names.ts";
import { line } from "../../terminal/output.ts";
import { defineCommand } from "../command.ts";

export const command = defineCommand({
  name: "interrupt",
  summary: "Stop an agent's current turn, and keep the agent running",
  args: [{ name: "agent", summary: "the member: name or name@team" }],
  options: {},
  examples: [
    "teams interrupt reviewer",
    "teams interrupt reviewer && teams send reviewer 'Only src/auth, please.'",
  ],
  notes:
    "The model's answer and the running command end at once. The conversation keeps what was said so far, and the next waiting " +
    "message starts a new turn. Esc in the agent's own pane does the same. Background commands keep running.",
  async run(call) {
    const { args, options, io, out } = call;
    const open = openTeam(io.env, options, splitAddress(args.agent));
    const { name } = memberByAddress(open.ref, open.config, args.agent);
    const report = await interruptAgent(filesContext(call, open), name, { signal: io.interruption() });
    out.done({ team: open.ref.team, ...report }, () => sentence(report));
  },
});

function sentence({ name, outcome, endsSeen }: InterruptReport): string {
  switch (outcome) {
    case "interrupted":
      return line`${name} was interrupted.`;
    case "idle":
      return line`${name} is idle; there was nothing to interrupt.`;
    case "asked":
      return line`${name} was asked to stop; teams cannot see from here whether it does. Another program may read the request only after its turn.`;
    case "pressed":
      return endsSeen === false
        ? line`The interrupt key (by default Escape) was pressed in the pane of ${name}; teams cannot see whether its turn has ended.`
        : line`Escape was pressed in the pane of ${name}, which ends its turn.`;
  }
}
