import { findAdapter } from "../../adapter/adapters.ts";
import type { Agent } from "../../agent/agent.ts";
import { DEFAULT_AGENT_TYPE, findAgentType } from "../../agent/prompts/agent-types.ts";
import { areTeamsOff } from "../../launch/agent-environment.ts";
import type { SpawnOptions } from "../../operations/spawn/spawn.ts";
import { createSocketDirectory } from "../../os/net/local-server.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import type { TeamRoster } from "../../worker/prompts/roster.ts";
import { COORDINATOR_PART, cliSection, LEAD_PART, leadSection } from "../../worker/prompts/team-sections.ts";
import type { Worker } from "../../worker/worker.ts";
import { coordinates } from "../agent/agent-prompt.ts";
import { openAgentSandbox } from "../agent/agent-sandbox.ts";
import { openAgentType } from "../agent/load-agent-types.ts";
import { assembleCli } from "../teammate/assemble-cli.ts";
import { rememberTeam } from "./finish-run.ts";
import type { Lead } from "./lead.ts";
import { endByUser } from "./lead-commands.ts";

/** Starts the third-party CLI that a plan makes the lead, with the lead's tools over MCP. */
export async function assembleCliLead(
  lead: Lead,
  worker: Worker,
  cli: string,
  spawn: SpawnOptions,
): Promise<Agent> {
  const { call, plan, ctx, settings: live, sessionId } = lead;
  const note = (line: string): void => lead.view.note(line);
  const settings = live();
  const adapter = findAdapter(cli, settings.teams.adapters);
  const { cwd, env } = ctx;
  const { root } = ctx.home;
  const named = { name: DEFAULT_AGENT_TYPE, root, cwd, env, directory: cwd, rules: settings.permissions };
  const { typeDenials: denials, ...type } = await openAgentType(named, note);
  const socket = createSocketDirectory();
  const { paths: login } = adapter.login;
  const sandbox = await openAgentSandbox(
    {
      ...{ ctx, name: LEAD_NAME, settings: live, mode: undefined, addDirs: undefined, denials },
      cli: { login, hosts: adapter.hosts, socket: socket.directory, program: ctx.program },
    },
    note,
  );
  // Closed after the CLI that runs in it.
  if (sandbox !== undefined) lead.ends.push(sandbox.close);
  const isUnattended = !call.io.terminal.stdin;
  const teamsOff = areTeamsOff(env);
  const general = findAgentType(DEFAULT_AGENT_TYPE, type.types);
  // A person's own text for the general type also applies to a lead.
  const rolePrompt = general?.custom ?? (teamsOff ? "" : LEAD_PART);
  return assembleCli(adapter, {
    ctx,
    worker,
    flags: { agentType: DEFAULT_AGENT_TYPE, model: plan.model },
    sessionId,
    settings: live,
    type,
    denials,
    sandbox,
    socket,
    ends: lead.ends,
    signal: call.io.interruption(),
    note,
    lead: {
      spawn,
      teamsOff,
      keepsTeam: plan.keep,
      onTeamMoved: (before) => lead.teamMoved(before),
      onTeamDelete: () => rememberTeam(lead),
      isUnattended,
      instructions: (roster) => instructionsOf(lead, worker, roster, { isUnattended, teamsOff, rolePrompt }),
      onOwnTurn: () => {
        lead.hasOwnInput = true;
      },
      onQuit: () => endByUser(lead, worker, "keep"),
    },
  });
}

function instructionsOf(
  lead: Lead,
  worker: Worker,
  roster: TeamRoster,
  own: { readonly isUnattended: boolean; readonly teamsOff: boolean; readonly rolePrompt: string },
): string {
  const { isUnattended, teamsOff, rolePrompt } = own;
  const { ctx, plan } = lead;
  const delegate = coordinates({ role: "lead", worker });
  const section = leadSection({
    name: worker.name,
    team: ctx.ref.team,
    others: roster.names,
    configFile: ctx.ref.paths.config,
    taskDirectory: ctx.ref.paths.tasks,
    run: isUnattended ? "alone" : plan.once ? "goal" : "open",
    delegate,
    plans: worker.planApproval.mode === "plan",
    teamsOff,
    hasOwnSubagents: true,
  });
  return [
    delegate ? COORDINATOR_PART : rolePrompt,
    section,
    cliSection("lead"),
    plan.promptOverrides.append ?? "",
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}
