import { EXIT } from "../../errors.ts";
import { refuseSecondTeam } from "../../runtime/operation-context.ts";
import { line } from "../../terminal/output.ts";
import { defineCommand } from "../command.ts";
import { ACP_ARGS, ACP_OPTIONS } from "../run/acp-options.ts";
import { programVersion } from "../version.ts";

export const command = defineCommand({
  name: "acp",
  ignoresTeamOptions: true,
  summary: "Act as an agent of the Agent Client Protocol: an editor or chat client drives a team",
  args: ACP_ARGS,
  options: ACP_OPTIONS,
  examples: ["teams acp", "teams acp --model opus --permission-mode acceptEdits", "teams acp --agent"],
  notes:
    "The client starts this command, and speaks protocol version 1 on standard input and output. Each session is a team in the " +
    "client's directory, with its lead in this process and its teammates in tmux; session/list names the teams on this machine.\n" +
    "When the client ends, the teammates end and the teams are kept: session/load continues, or teams run --resume.",
  async run(call) {
    const { io, out, options } = call;
    refuseSecondTeam(call, "serve sessions");
    if (io.terminal.stdin)
      out.note(
        "This agent expects messages of the Agent Client Protocol on standard input. Add it to a client as the command: teams acp",
      );
    const signal = io.interruption();
    const [{ serveAcp }, { planSession }] = await Promise.all([
      import("../../runtime/acp/serve.ts"),
      import("../run/session-plan.ts"),
    ]);
    const failure = await serveAcp(call, {
      version: programVersion(io),
      isAlone: options.agent,
      plan: (choice) => planSession(call, choice),
    });
    if (failure !== undefined) {
      out.note(
        line`teams: The connection to the client failed: ${failure}. Its teams are kept; see teams ls`,
      );
      return EXIT.failed;
    }
    return signal.aborted ? EXIT.interrupted : EXIT.done;
  },
});
