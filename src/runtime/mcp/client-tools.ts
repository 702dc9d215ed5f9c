import type { OperationContext } from "../../operations/context.ts";
import { createTeam } from "../../operations/create-team.ts";
import { checkCli, checkCliVersion } from "../../operations/spawn/check-cli.ts";
import { spawnType } from "../../operations/spawn/draft-member.ts";
import { mayModelStart } from "../../operations/spawn/model-requests.ts";
import type { SpawnOptions } from "../../operations/spawn/spawn.ts";
import { defined } from "../../schema/defined.ts";
import { LEAD_NAME, sameName } from "../../schema/names.ts";
import { bypassForbiddenBy, isPricedBy, loadSettings, worktreeSettings } from "../../settings/settings.ts";
import { trustDecision } from "../../settings/trust.ts";
import { updateTeam } from "../../team/config/config.ts";
import { lookUpMember } from "../../team/members/members.ts";
import { ClientMail } from "../../team-tools/mcp/client-mail.ts";
import { ClientMember } from "../../team-tools/mcp/client-member.ts";
import type { ClientToolContext, NewClientTeam } from "../../team-tools/mcp/client-tool.ts";
import type { AnyCall } from "../../terminal/call.ts";
import { stripControls } from "../../text/terminal-text.ts";
import { operationContext } from "../operation-context.ts";
import { deciderOf, type OpenTeam } from "../select-team.ts";
import { taskHooks } from "../task-hooks.ts";

/** Returns the dependencies of the tools of a member whose program is an MCP client. */
export async function openClientTools(
  call: AnyCall,
  open: OpenTeam,
  withoutInbox: boolean,
): Promise<ClientToolContext> {
  const { ref, actor, config, home } = open;
  const { cwd: memberCwd, color } = lookUpMember(config, actor) ?? {};
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
    hasPerson: deciderOf(call.io.env) === "person",
    knownRequests: new Set(),
    spawnOptions: () => spawnOptions(ctx),
    createTeam: (team) => createClientTeam(ctx, team),
  };
}

/** Creates the team of a lead under the name that its server was started with. @throws TeamError TEAM_EXISTS, INVALID_TYPE */
async function createClientTeam(
  { home, ref, cwd, clock, agentTypes }: OperationContext,
  { displayName, description, agentType }: NewClientTeam,
): Promise<void> {
  const { permissions } = loadSettings(home.root, cwd);
  const type = agentType && spawnType(agentType, await agentTypes?.(cwd)).name;
  const mode = permissions.defaultMode;
  await createTeam(home, clock, { name: ref.team, cwd, ...defined({ description, agentType: type, mode }) });
  const shown = stripControls(displayName).replace(/\s+/g, " ").trim();
  if (shown !== "" && shown !== ref.team)
    await updateTeam(ref, (current) => ({ ...current, displayName: shown }));
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
    checkVersion: (cli) => checkCliVersion(cli, settings.teams.adapters, env),
    mayStartCli: (cli, input) => mayModelStart(cli, input, settings.permissions),
  };
}
