import { randomUUID } from "node:crypto";
import { livenessOf } from "../os/identity.ts";
import type { TeamConfig } from "../schema/config.ts";
import { LEAD_NAME } from "../schema/names.ts";
import { readTeam, updateTeam } from "../team/config.ts";
import { removeRun } from "../team/records.ts";
import type { LeadContext } from "./context.ts";
import { endLeftWatches } from "./left-watches.ts";
import { closeRequestsOf } from "./settle-ending.ts";

/** Who leads: `taken` from a process that has died, `yours` as before, a `process` that lives, or `unknown` from here. */
export type LeadOutcome = "taken" | "yours" | "process" | "unknown";

/**
 * Follows a lead whose process has died: the team has no lead's process any more, and a session of its own, so that
 * whoever calls commands leads it (S50).
 * @param force also where nobody can see from here whether it lives
 */
export async function takeLead(ctx: LeadContext, force: boolean): Promise<LeadOutcome> {
  const { ref } = ctx;
  const before = leadOf(readTeam(ref));
  if (before !== "dead" && !(before === "unknown" && force)) return before;
  let taken = false;
  await updateTeam(ref, (config) => {
    taken = leadOf(config) === before;
    const { leadProcess: _dead, ...rest } = config;
    return taken ? ({ ...rest, leadSessionId: randomUUID() } as TeamConfig) : undefined;
  });
  // Somebody else was quicker.
  if (!taken) return "yours";
  closeRequestsOf(ref, LEAD_NAME);
  await endLeftWatches(ctx);
  removeRun(ref, LEAD_NAME);
  return "taken";
}

function leadOf({ leadProcess }: TeamConfig): "yours" | "process" | "unknown" | "dead" {
  if (leadProcess === undefined) return "yours";
  const liveness = livenessOf(leadProcess);
  return liveness === "alive" ? "process" : liveness;
}
