import * as z from "zod/mini";
import type { ToolResult } from "../agent/tool.ts";
import { jsonResult, TEAM_ACCESS, withRefusals } from "./context.ts";
import type { Deletion, LeadTool } from "./current-team.ts";

const input = z.object({});

export const teamDelete: LeadTool = ({ led }) => ({
  name: "TeamDelete",
  description:
    "Deletes the team with its tasks and messages, and its worktrees without unsaved work. Refused while a teammate is running: shut down all teammates first.",
  input,
  access: () => TEAM_ACCESS,
  summary: () => "",
  execute: () => withRefusals(async () => deletionResult(await led.delete())),
});

/** Describes which parts of a team a deletion removed, and which were kept. */
export function deletionResult({ title, kept: isKept, worktrees, problems = [] }: Deletion): ToolResult {
  if (title === undefined) {
    return jsonResult({ success: true, message: "There is no team; nothing was deleted." });
  }
  if (isKept) {
    const message = `All teammates of ${title} have ended; the run keeps the files of the team.`;
    return jsonResult({ success: true, message, kept: true });
  }
  const kept = worktrees.flatMap(({ path, kept: why }) => (why === null ? [] : [`${path} (${why})`]));
  const notes = problems.map((text) => ` Note: ${text}.`).join("");
  const deletion = `The team ${title} is deleted.${notes}`;
  if (kept.length === 0) return jsonResult({ success: true, message: deletion });
  const message = `${deletion} These worktrees were kept, because work in them would be lost: ${kept.join("; ")}.`;
  return jsonResult({ success: true, message, worktrees });
}
