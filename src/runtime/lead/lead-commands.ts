import { setPermissionMode } from "../../operations/permission-mode.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import { bypassForbiddenBy } from "../../settings/settings.ts";
import { readTeam } from "../../team/config/config.ts";
import { modeToInherit } from "../../team/members/permission-mode.ts";
import { operand } from "../../text/shell-quote.ts";
import type { Worker } from "../../worker/worker.ts";
import type { PaneLinesOptions } from "../pane/pane-lines.ts";
import type { Lead } from "./lead.ts";

/** Returns the commands that only a lead's pane has. */
export function leadCommands(lead: Lead, worker: Worker): PaneLinesOptions["own"] {
  return {
    delegate: () => toggleDelegate(lead),
    exit: ([how]) => endByUser(lead, worker, how === undefined ? "keep" : "delete"),
  };
}

/** Ends the run as the user has asked. A team that a person created is never deleted by its run. */
export function endByUser(lead: Lead, worker: Worker, exit: "keep" | "delete"): void {
  if (exit === "delete" && lead.plan.resumes?.wasByHand) {
    const { team } = lead.ctx.ref;
    const command = `teams delete ${operand(team)}`;
    lead.view.note(`${team} was led by hand, so its run cannot delete it: type /exit, then ${command}`);
    return;
  }
  lead.exit = exit;
  worker.finish();
}

/**
 * Sets the lead's mode to delegate, or back to the mode before it. The lead's pane notes the change once it has read the team's config.
 * @throws TeamError TEAM_NOT_FOUND
 */
async function toggleDelegate({ ctx, settings }: Lead): Promise<void> {
  const lead = readTeam(ctx.ref).members.find(({ name }) => name === LEAD_NAME);
  const before = lead && modeToInherit(lead);
  const next = lead?.mode === "delegate" ? (before ?? "default") : "delegate";
  await setPermissionMode(ctx, LEAD_NAME, next, {
    decider: "person",
    forbidden: bypassForbiddenBy(settings(), ctx.env),
  });
}
