import { setPermissionMode } from "../../operations/permission-mode.ts";
import { filesContext } from "../../runtime/operation-context.ts";
import { deciderOf, openAddress } from "../../runtime/select-team.ts";
import { PERMISSION_MODES } from "../../schema/permission-modes.ts";
import { bypassForbiddenBy, loadSettings } from "../../settings/settings.ts";
import { line } from "../../terminal/output.ts";
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
    const settings = loadSettings(open.home.root, member.cwd || io.cwd);
    const change = await setPermissionMode(filesContext(call, open), member.name, mode, {
      decider: deciderOf(io.env),
      forbidden: bypassForbiddenBy(settings, { ...io.env, ...settings.env }),
    });
    out.done(change, () => line`${change.name} is now in mode ${change.mode}.`);
  },
});
