import * as z from "zod/mini";
import { TeamError } from "../errors.ts";
import { deleteTeam } from "../lead/delete-team.ts";
import { answer, refusing, TEAM_ACCESS, type TeamTool } from "./context.ts";

const input = z.object({});

export const teamDelete: TeamTool = ({ ctx }) => ({
  name: "TeamDelete",
  description:
    "Deletes the team with its tasks and messages. Refused while a teammate still runs: shut all of them down first.",
  input,
  access: () => TEAM_ACCESS,
  summary: () => "",
  execute: () =>
    refusing(async () => {
      try {
        await deleteTeam(ctx);
      } catch (error) {
        if (!(error instanceof TeamError && error.code === "TEAM_NOT_FOUND")) throw error;
      }
      return answer({ success: true, message: `The team ${ctx.ref.team} is deleted.` });
    }),
});
