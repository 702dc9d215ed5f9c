import type { ToolResult } from "../agent/tool.ts";
import { TeamError } from "../errors.ts";
import type { OperationContext } from "../operations/context.ts";
import type { SpawnInput } from "../operations/spawn/draft-member.ts";
import { type SpawnOptions, spawnTeammates } from "../operations/spawn/spawn.ts";
import { teamTitle } from "../schema/config.ts";
import { defined } from "../schema/defined.ts";
import { sameName } from "../schema/names.ts";
import type { PermissionMode } from "../schema/permission-modes.ts";
import { readTeam } from "../team/config/config.ts";
import { isCalled } from "../team/config/find-team.ts";
import { jsonResult } from "./context.ts";

/** A lead's call that starts a teammate. */
export interface TeammateCall {
  readonly name: string;
  readonly prompt: string;
  readonly subagent_type?: string | undefined;
  readonly team_name?: string | undefined;
  readonly model?: string | undefined;
  readonly mode?: PermissionMode | undefined;
  readonly plan_mode_required?: boolean | undefined;
  readonly allowedTools?: string[] | undefined;
  readonly disallowedTools?: string[] | undefined;
  readonly isolation?: "worktree" | undefined;
  readonly cli?: string | undefined;
}

/** The lead that starts a teammate. */
interface Starter {
  readonly ctx: OperationContext;
  readonly spawn: SpawnOptions;
  /** The highest mode that the lead can grant. */
  readonly maxMode: PermissionMode;
}

/** @throws TeamError TEAM_NOT_FOUND unless the name is the current, a former or the display name of the lead's own team */
function requireOwnTeam(name: string | undefined, { ref }: OperationContext): void {
  const config = readTeam(ref);
  if (name === undefined || isCalled(config, name)) return;
  throw new TeamError("TEAM_NOT_FOUND", `You lead ${teamTitle(config)}, not ${name}; nothing was started.`, {
    hint: "Leave team_name out.",
  });
}

/** Starts the teammate of a call, and returns when it is ready. @throws as {@link spawnTeammates} */
export async function startTeammate(
  call: TeammateCall,
  { ctx, spawn, maxMode }: Starter,
): Promise<ToolResult> {
  requireOwnTeam(call.team_name, ctx);
  const [spawned] = await spawnTeammates(ctx, [{ ...spawnInput(call), maxMode }], spawn);
  if (spawned === undefined) throw new TeamError("SPAWN_FAILED", `${call.name} was not started.`);
  const renamed = sameName(spawned.name, call.name)
    ? undefined
    : `The name ${call.name} was taken, so this teammate is called ${spawned.name}.`;
  return jsonResult(
    {
      status: "teammate_spawned",
      ...(renamed !== undefined && { message: renamed }),
      teammate_id: spawned.agentId,
      agent_id: spawned.agentId,
      agent_type: spawned.agentType,
      model: spawned.model,
      name: spawned.name,
      color: spawned.color,
      team_name: ctx.ref.team,
      plan_mode_required: spawned.planModeRequired,
      mode: spawned.mode,
      pane_id: spawned.paneId,
      ...(spawned.worktree && { worktree_path: spawned.worktree, worktree_branch: spawned.branch }),
    },
    [
      `${spawned.name} is ready${spawned.paneId === null ? "" : ` in pane ${spawned.paneId}`}.`,
      ...(renamed === undefined ? [] : [renamed]),
    ].join(" "),
  );
}

function spawnInput(call: TeammateCall): SpawnInput {
  return defined({
    name: call.name,
    prompt: call.prompt,
    unique: true,
    agentType: call.subagent_type,
    model: call.model,
    permissionMode: call.mode,
    plan: call.plan_mode_required,
    allowedTools: call.allowedTools,
    disallowedTools: call.disallowedTools,
    worktree: call.isolation && {},
    cli: call.cli,
  });
}
