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
  subagent_type: shape.subagent_type,
  model: shape.model,
  mode: shape.mode,
  plan_mode_required: shape.plan_mode_required,
  allowedTools: shape.allowedTools,
  disallowedTools: shape.disallowedTools,
  isolation: shape.isolation,
  cli: shape.cli,
});

export const spawnTeammate: ClientTool = ({ ctx, spawnOptions }) => ({
  name: "SpawnTeammate",
  description:
    "Starts a teammate, a separate agent that works in parallel with you and reports by messages; the call returns when it is ready. To end it, send it a shutdown_request.",
  input,
  execute: (call: TeammateCall, { signal }) =>
    withRefusals(() => {
      requireNoNesting(ctx);
      const maxMode = inheritedMode(readTeam(ctx.ref));
      return startTeammate(call, { ctx, spawn: { ...spawnOptions(), signal }, maxMode });
    }),
});
