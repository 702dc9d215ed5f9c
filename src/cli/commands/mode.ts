import { setPermissionMode } from "../../operations/permission-mode.ts";
import { filesContext } from "../../runtime/operation-context.ts";
import { deciderOf, openAddress } from "../../runtime/select-team.ts";
import { PERMISSION_MODES } from "../../schema/permission-modes.ts";
import { bypassForbiddenBy, loadSettings } from "../../settings/settings.ts";
import { line } from "../../terminal/paint.ts";
import { defineCommand } from "../define-command.ts";
import { usageError } from "../parse-args.ts";

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
    const wanted = PERMISSION_MODES.find((mode) => mode === args.mode);
    if (wanted === undefined)
      throw usageError(
        command,
        `knows no mode ${JSON.stringify(args.mode)}; there are ${PERMISSION_MODES.join(", ")}.`,
      );
    const { member, ...open } = openAddress(io.env, options, args.agent);
    const settings = loadSettings(open.home.root, member.cwd || io.cwd);
    const change = await setPermissionMode(filesContext(call, open), member.name, wanted, {
      decider: deciderOf(io.env),
      forbidden: bypassForbiddenBy(settings, { ...io.env, ...settings.env }),
    });
    out.done(change, () => line`${change.name} is in mode ${change.mode} now.`);
  },
});
