import * as z from "zod/mini";
import { TeamError } from "../../errors.ts";
import { requireLead } from "../../operations/context.ts";
import { teamTitle } from "../../schema/config.ts";
import { readTeam, teamExists } from "../../team/config/config.ts";
import { jsonResult, withRefusals } from "../context.ts";
import type { ClientTool } from "./client-tool.ts";

const input = z.object({
  team_name: z.string().check(z.minLength(1), z.maxLength(64), z.describe("The team's name, for people")),
  description: z.optional(z.string()).check(z.describe("The team's purpose")),
  agent_type: z.optional(z.string()).check(z.describe("Your own agent type")),
});
type Call = z.infer<typeof input>;

const output = z.looseObject({
  team_name: z.string(),
  display_name: z.string(),
  team_file_path: z.string(),
  lead_agent_id: z.string(),
});

/** The directory of the team has the name that the server was started with, so that the next server finds it. */
export const createClientTeam: ClientTool = ({ ctx, hasPerson, createTeam }) => ({
  name: "TeamCreate",
  description:
    "Creates your team, if it does not exist yet: TeamStatus shows whether it does. A lead has one team at a time.",
  hints: { title: "Create the team" },
  input,
  output,
  withoutTeam: true,
  execute: ({ team_name, description, agent_type }: Call) =>
    withRefusals(async () => {
      requireLead(ctx, "create a team");
      if (teamExists(ctx.ref)) {
        throw new TeamError(
          "ALREADY_LEADING",
          `You already lead ${teamTitle(readTeam(ctx.ref))}; no team was created.`,
          { hint: "Use that team. To create another one, call TeamDelete first." },
        );
      }
      if (!hasPerson) {
        throw new TeamError("NESTED_TEAM", "An agent cannot create a second team. Nothing was created.", {
          hint: "Ask the person to create it.",
        });
      }
      await createTeam({ displayName: team_name, description, agentType: agent_type });
      const config = readTeam(ctx.ref);
      return jsonResult({
        team_name: config.name,
        display_name: config.displayName ?? config.name,
        team_file_path: ctx.ref.paths.config,
        lead_agent_id: config.leadAgentId,
      });
    }),
});
