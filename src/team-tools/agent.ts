import * as z from "zod/mini";
import { TeamError } from "../errors.ts";
import { requireNoNesting } from "../lead/context.ts";
import { exceeds } from "../lead/modes.ts";
import { spawnTeammates } from "../lead/spawn.ts";
import type { SpawnInput } from "../lead/spawn-draft.ts";
import { permissionMode } from "../schema/config.ts";
import { defined } from "../schema/defined.ts";
import { answer, refusing, TEAM_ACCESS, type TeamTool } from "./context.ts";

const input = z.object({
  prompt: z
    .string()
    .check(
      z.maxLength(100_000),
      z.describe("What the teammate is to do; it knows nothing of your conversation"),
    ),
  description: z._default(z.string(), "").check(z.describe("Three to five words")),
  subagent_type: z.optional(z.string()).check(z.describe("Agent type; general-purpose by default")),
  name: z.string().check(z.describe("The teammate's name in the team")),
  team_name: z.optional(z.string()),
  model: z.optional(z.string()).check(z.describe("haiku, sonnet, opus, an id, or inherit (default)")),
  mode: z
    .optional(permissionMode)
    .check(z.describe("Permission mode; yours by default, and no more than yours")),
  plan_mode_required: z.optional(z.boolean()).check(z.describe("It acts only after you approved its plan")),
  allowedTools: z.optional(z.array(z.string())),
  disallowedTools: z.optional(z.array(z.string())),
  run_in_background: z.optional(z.boolean()),
  isolation: z
    .optional(z.enum(["worktree"]))
    .check(z.describe("worktree: it works on a branch of its own, in its own git worktree")),
});

function inputOf(call: z.infer<typeof input>): SpawnInput {
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
  });
}

export const agent: TeamTool = ({ ctx, worker, spawn }) => ({
  name: "Agent",
  description:
    "Starts a teammate in its own pane. It works beside you and reports by messages; you are told when it is ready.",
  input,
  // Several of one turn start together, and each waits for its own alone.
  parallel: true,
  access: () => TEAM_ACCESS,
  summary: ({ name, description }: z.infer<typeof input>) =>
    description === "" ? name : `${name}: ${description}`,
  execute: (call: z.infer<typeof input>) =>
    refusing(async () => {
      requireNoNesting(ctx);
      const { mode } = worker.plan;
      if (call.mode !== undefined && exceeds(call.mode, mode)) {
        throw new TeamError(
          "PERMISSION_DENIED",
          `You work in mode ${mode} and cannot start ${call.name} in ${call.mode}.`,
          {
            hint: "Leave mode out: the teammate then has yours.",
          },
        );
      }
      if (call.allowedTools?.length && mode !== "bypassPermissions") {
        throw new TeamError(
          "PERMISSION_DENIED",
          `You work in mode ${mode} and cannot let ${call.name} use ${call.allowedTools.join(", ")} unasked.`,
          {
            hint: "Leave allowedTools out: the teammate then asks where you would be asked.",
          },
        );
      }
      const [spawned] = await spawnTeammates(ctx, [inputOf(call)], spawn);
      if (spawned === undefined) throw new TeamError("SPAWN_FAILED", `${call.name} was not started.`);
      return answer(
        {
          status: "teammate_spawned",
          teammate_id: spawned.agentId,
          agent_id: spawned.agentId,
          agent_type: spawned.agentType,
          model: spawned.model,
          name: spawned.name,
          color: spawned.color,
          team_name: ctx.ref.team,
          plan_mode_required: spawned.planModeRequired,
          pane_id: spawned.paneId,
          ...(spawned.worktree && { worktree_path: spawned.worktree, worktree_branch: spawned.branch }),
        },
        `${spawned.name} is ready${spawned.paneId === null ? "" : ` in pane ${spawned.paneId}`}.`,
      );
    }),
});
