import type { PermissionAsk } from "../../agent/turn/permission.ts";
import { changePreview } from "../../team/requests/change-preview.ts";
import { savedChange } from "../../team/requests/saved-change.ts";
import type { PermissionPrompt } from "../view.ts";

/** Adds the lines that show what a call would do, if its tool has not computed them. */
export async function withChange(request: PermissionAsk): Promise<PermissionAsk> {
  const { tool, summary, input } = request;
  if (request.change !== undefined) return request;
  const search =
    tool === "Edit" ? (await import("../../text/diff/shortest-change.ts")).shortestChange : undefined;
  const change = changePreview(tool, input, { summary, ...(search === undefined ? {} : { search }) });
  return change.length === 0 ? request : { ...request, change };
}

/** Returns all lines that show what a call would do; computes them from its input if the shown lines are not complete. */
export function wholeChange(
  { tool, summary, change }: PermissionPrompt,
  input: PermissionAsk["input"],
): readonly string[] {
  return savedChange(change, true) ?? changePreview(tool, input, { summary, whole: true });
}
