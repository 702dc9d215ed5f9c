import * as z from "zod/mini";
import { TeamError } from "../../errors.ts";
import { deleteTeam } from "../../operations/ending/delete-team.ts";
import { reconcileAgreed } from "../../operations/supervision/agreed-shutdowns.ts";
import { type TeamConfig, teamTitle } from "../../schema/config.ts";
import { readTeam, teamExists } from "../../team/config/config.ts";
import { isLed } from "../../team/members/led.ts";
import type { TeamRef } from "../../team/ref.ts";
import { withRefusals } from "../context.ts";
import { deletionResult } from "../team-delete.ts";
import type { ClientTool } from "./client-tool.ts";

const output = z.looseObject({
  success: z.boolean(),
  message: z.string(),
  worktrees: z.optional(z.array(z.looseObject({ path: z.string() }))),
});

export const deleteClientTeam: ClientTool = ({ ctx }) => ({
  name: "TeamDelete",
  description:
    "Deletes the team with its tasks and messages, and its worktrees without unsaved work. Refused while a teammate is running: shut down all teammates first.",
  hints: { title: "Delete the team", destructive: true, idempotent: true },
  input: z.object({}),
  output,
  withoutTeam: true,
  execute: (_: unknown, { signal }) =>
    withRefusals(async () => {
      if (!teamExists(ctx.ref)) return deletionResult({ kept: false, worktrees: [] });
      const config = readTeam(ctx.ref);
      requireOwnTeam(ctx.ref, config);
      const title = teamTitle(config);
      await reconcileAgreed(ctx, signal);
      const problems: string[] = [];
      const worktrees = await deleteTeam(ctx, { problem: (text) => void problems.push(text) });
      return deletionResult({ title, kept: false, worktrees, problems });
    }),
});

/** @throws TeamError PERMISSION_DENIED for a team of another program, and for a team whose lead process is running */
function requireOwnTeam(ref: TeamRef, config: TeamConfig): void {
  const hasLead = isLed(ref, config);
  if (config.schemaVersion !== undefined && !hasLead) return;
  const why = hasLead ? "is led by a running process" : "was created by another program";
  throw new TeamError("PERMISSION_DENIED", `${teamTitle(config)} ${why}; nothing was deleted.`, {
    hint: "Ask the person to delete it.",
  });
}
