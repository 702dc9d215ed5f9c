import { announceReady } from "../../launch/announce-ready.ts";
import { prepareTeammate } from "../../runtime/teammate/become-ready.ts";
import type { AnyCall } from "../../terminal/call.ts";
import { HUNG_UP, isTerminalGone } from "../../terminal/process-io.ts";
import { defineCommand } from "../command.ts";

export const command = defineCommand({
  name: "agent",
  summary: "Run the process of a teammate (`spawn` and `run` start it)",
  args: [],
  options: {},
  raw: true,
  examples: [
    "teams agent --agent-id scout@audit --agent-name scout --team-name audit --parent-session-id 0b5e… --agent-type Explore",
  ],
  notes:
    "Flags: --agent-id --agent-name --team-name --agent-color --parent-session-id --agent-type --plan-mode-required " +
    "--permission-mode --dangerously-skip-permissions --allowedTools --disallowedTools --tools --add-dir --model --resume.\n" +
    "Unknown flags are ignored.",
  run: async (call) => runAgent(call),
});

/** Announces readiness before loading the modules for turns: the inbox is watched by then, and the agent can be ended. */
async function runAgent(call: AnyCall): Promise<number> {
  const ready = await prepareTeammate(call.io);
  announceReady(ready.ref.paths.agent(ready.name));
  const { runTeammate } = await import("../../runtime/teammate/teammate.ts");
  try {
    return await runTeammate(call, ready);
  } catch (error) {
    // Its pane was closed before it opened the terminal; the signal comes later than this error, or not at all.
    if (!isTerminalGone(error)) throw error;
    ready.status.report("ended");
    return HUNG_UP;
  }
}
