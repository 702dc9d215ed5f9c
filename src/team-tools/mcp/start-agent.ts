import * as z from "zod/mini";
import { requireNoNesting } from "../../operations/context.ts";
import { inheritedMode } from "../../operations/permission-mode.ts";
import { readTeam } from "../../team/config/config.ts";
import { agentInput } from "../agent.ts";
import { withRefusals } from "../context.ts";
import { startTeammate, type TeammateCall } from "../start-teammate.ts";
import type { ClientTool } from "./client-tool.ts";

const { shape } = agentInput;
const input = z.object({
  name: z.string().check(z.minLength(1), z.describe("The teammate's name in the team")),
  prompt: shape.prompt,
  description: shape.description,
  subagent_type: shape.subagent_type,
  team_name: shape.team_name,
  model: shape.model,
  mode: shape.mode,
  plan_mode_required: shape.plan_mode_required,
  allowedTools: shape.allowedTools,
  disallowedTools: shape.disallowedTools,
  isolation: shape.isolation,
  cli: shape.cli,
});

const output = z.looseObject({
  status: z.literal("teammate_spawned"),
  teammate_id: z.string(),
  agent_id: z.string(),
  name: z.string(),
  team_name: z.string(),
  plan_mode_required: z.boolean(),
});

/** Starts only teammates: a client has its own subagents. */
export const startAgent: ClientTool = ({ ctx, spawnOptions }) => ({
  name: "Agent",
  alias: "Task",
  description:
    "Starts a teammate, a separate agent that works in parallel with you and reports by messages; the call returns when it is ready. To end it, send it a shutdown_request.",
  hints: { title: "Start a teammate", openWorld: true },
  input,
  output,
  execute: (call: TeammateCall, { signal }) =>
    withRefusals(() => {
      requireNoNesting(ctx);
      const maxMode = inheritedMode(readTeam(ctx.ref));
      return startTeammate(call, { ctx, spawn: { ...spawnOptions(), signal }, maxMode });
    }),
});
