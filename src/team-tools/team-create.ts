import * as z from "zod/mini";
import { TeamError } from "../errors.ts";
import { LEAD_NAME } from "../schema/names.ts";
import { readTeam, updateTeam } from "../team/config.ts";
import { answer, refusing, TEAM_ACCESS, type TeamTool } from "./context.ts";

const input = z.object({
  team_name: z.string().check(z.minLength(1), z.maxLength(64), z.describe("What the team is called")),
  description: z.optional(z.string()).check(z.describe("What it is for")),
  agent_type: z.optional(z.string()).check(z.describe("The lead's own type")),
});

/** The team of a run exists before its lead's model does: the first call adopts it (protocol.md section 8). */
export const teamCreate: TeamTool = ({ ctx }) => {
  let leads: string | undefined;
  return {
    name: "TeamCreate",
    description:
      "Creates the team that you lead. Call it once, before you spawn teammates; you lead one team at a time.",
    input,
    access: () => TEAM_ACCESS,
    summary: ({ team_name }: z.infer<typeof input>) => team_name,
    execute: ({ team_name, description, agent_type }: z.infer<typeof input>) =>
      refusing(async () => {
        if (leads !== undefined) {
          // One that it has deleted it leads no more, and its run ends with that.
          readTeam(ctx.ref);
          throw new TeamError("ALREADY_LEADING", `You lead ${leads} already; no team was made.`, {
            hint: "One team at a time: use the one that you have.",
          });
        }
        const config = await updateTeam(ctx.ref, (current) => ({
          ...current,
          displayName: team_name,
          ...(description === undefined ? {} : { description }),
          members: current.members.map((member) =>
            member.name === LEAD_NAME && agent_type !== undefined
              ? { ...member, agentType: agent_type }
              : member,
          ),
        }));
        leads = team_name;
        return answer(
          {
            team_name: config.name,
            display_name: team_name,
            team_file_path: ctx.ref.paths.config,
            lead_agent_id: config.leadAgentId,
          },
          `You lead ${team_name}.`,
        );
      }),
  };
};
