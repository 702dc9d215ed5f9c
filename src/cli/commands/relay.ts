import { relayTo } from "../../os/net/relay.ts";
import { defineCommand } from "../command.ts";

export const command = defineCommand({
  name: "relay",
  ignoresTeamOptions: true,
  summary: "Connect stdin and stdout to the tools of a teammate (started by `spawn --cli`)",
  args: [{ name: "socket", summary: "path of the socket" }],
  options: {},
  examples: [
    "teams relay /tmp/teams-1000/socket-0b5e/s",
    "teams relay /tmp/teams-0/socket-4f1c/s < request.json",
  ],
  notes: "A third-party CLI starts this command as its MCP server. It ends when either side closes.",
  async run({ args }) {
    await relayTo(args.socket, process.stdin, process.stdout);
    return 0;
  },
});
