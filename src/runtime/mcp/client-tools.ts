import type { OperationContext } from "../../operations/context.ts";
import { checkCli } from "../../operations/spawn/check-cli.ts";
import { mayModelStart } from "../../operations/spawn/model-requests.ts";
import type { SpawnOptions } from "../../operations/spawn/spawn.ts";
import { LEAD_NAME, sameName } from "../../schema/names.ts";
import { bypassForbiddenBy, isPricedBy, loadSettings, worktreeSettings } from "../../settings/settings.ts";
import { trustDecision } from "../../settings/trust.ts";
import { findMember } from "../../team/members/members.ts";
import { ClientMail } from "../../team-tools/mcp/client-mail.ts";
import { ClientMember } from "../../team-tools/mcp/client-member.ts";
import type { ClientToolContext } from "../../team-tools/mcp/client-tool.ts";
import type { AnyCall } from "../../terminal/call.ts";
import { operationContext } from "../operation-context.ts";
import type { OpenTeam } from "../select-team.ts";
import { taskHooks } from "../task-hooks.ts";

/** Returns the dependencies of the tools of a member whose program is an MCP client. */
export async function openClientTools(
  call: AnyCall,
  open: OpenTeam,
  withoutInbox: boolean,
): Promise<ClientToolContext> {
  const { ref, actor, config, home } = open;
  const { cwd: memberCwd, color } = findMember(config, actor);
  const isLead = sameName(actor, LEAD_NAME);
  // A lead's teammates start in the lead's directory, wherever its client runs.
  const cwd = (isLead && memberCwd) || call.io.cwd;
  const settings = loadSettings(home.root, cwd);
  const ctx: OperationContext = { ...(await operationContext(call, open, settings)), cwd };
  return {
    ctx,
    worker: new ClientMember(ref, actor, isLead ? undefined : color),
    mail: new ClientMail(ref, actor),
    role: isLead ? "lead" : "teammate",
    gate: await taskHooks(call, open, "client"),
    withoutInbox,
    spawnOptions: () => spawnOptions(ctx),
  };
}

/** Reads the settings at each start of a teammate. */
function spawnOptions({ home, cwd, env }: OperationContext): SpawnOptions {
  const settings = loadSettings(home.root, cwd);
  return {
    mode: settings.teammateMode,
    modelNames: settings.teams.models,
    isTrusted: (directory) => trustDecision(home.root, directory) === true,
    sandbox: settings.teams.sandbox.mode,
    isPriced: isPricedBy(settings),
    worktrees: worktreeSettings(settings),
    bypassForbidden: bypassForbiddenBy(settings, env),
    checkCli: (cli, input) => checkCli(cli, input, settings.teams.adapters, env),
    mayStartCli: (cli, input) => mayModelStart(cli, input, settings.permissions),
  };
}
