import * as z from "zod/mini";
import { teamTitle } from "../schema/config.ts";
import { jsonResult, TEAM_ACCESS, withRefusals } from "./context.ts";
import type { LeadTool } from "./current-team.ts";

const input = z.object({
  team_name: z.string().check(z.minLength(1), z.maxLength(64), z.describe("The team's name")),
  description: z.optional(z.string()).check(z.describe("The team's purpose")),
  agent_type: z.optional(z.string()).check(z.describe("The lead's own type")),
});

export const teamCreate: LeadTool = ({ ctx, led }) => ({
  name: "TeamCreate",
  description:
    "Names your team and sets its purpose. The team already exists, so Agent works without this. Call it at most once, before the first Agent; after TeamDelete, it creates your next team.",
  input,
  access: () => TEAM_ACCESS,
  summary: ({ team_name }: z.infer<typeof input>) => team_name,
  execute: ({ team_name, description, agent_type }: z.infer<typeof input>) =>
    withRefusals(async () => {
      const config = await led.create({ name: team_name, description, agentType: agent_type });
      return jsonResult(
        {
          team_name: config.name,
          display_name: team_name,
          team_file_path: ctx.ref.paths.config,
          lead_agent_id: config.leadAgentId,
        },
        `You lead ${teamTitle(config)}.`,
      );
    }),
});
