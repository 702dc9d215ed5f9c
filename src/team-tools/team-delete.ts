import * as z from "zod/mini";
import type { ToolContext } from "../agent/tool.ts";
import { jsonResult, TEAM_ACCESS, withRefusals } from "./context.ts";
import type { LeadTool } from "./current-team.ts";

const input = z.object({});

export const teamDelete: LeadTool = ({ ctx, led }) => ({
  name: "TeamDelete",
  description:
    "Deletes the team with its tasks and messages, and its worktrees in which nothing is unsaved. Refused while a teammate still runs: first ask all of them to shut down; it waits for those that were asked.",
  input,
  access: () => TEAM_ACCESS,
  summary: () => "",
  execute: (_input: z.infer<typeof input>, { signal }: ToolContext) =>
    withRefusals(async () => {
      const { existed, kept: isKept, worktrees, problem } = await led.delete(signal);
      if (!existed) {
        return jsonResult({ success: true, message: "There is no team; nothing was deleted." });
      }
      if (isKept) {
        const message = `The team ${ctx.ref.team} has ended; its files stay, since its run keeps them.`;
        return jsonResult({ success: true, message, kept: true });
      }
      const kept = worktrees.flatMap(({ path, kept: why }) => (why === null ? [] : [`${path} (${why})`]));
      const deletion = `The team ${ctx.ref.team} is deleted.${problem === undefined ? "" : ` Note: ${problem}.`}`;
      if (kept.length === 0) return jsonResult({ success: true, message: deletion });
      const message = `${deletion} These worktrees stay, since work in them would be lost: ${kept.join("; ")}.`;
      return jsonResult({ success: true, message, worktrees });
    }),
});
