import { isScripted, resolveModelName, SCRIPTED } from "../../agent/model/model-names.ts";
import { requirePrice } from "../../operations/budget.ts";
import { loadPlaybook, playbookFile } from "../../runtime/agent/models.ts";
import type { LeadPlan } from "../../runtime/lead/lead.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import { isPricedBy } from "../../settings/settings.ts";
import type { Settings } from "../../settings/settings-schema.ts";
import type { Io } from "../../terminal/io.ts";
import { limitsFromOptions } from "../option-values.ts";

interface OwnLeadCall {
  readonly options: Parameters<typeof limitsFromOptions>[0];
  /** A relative path of a playbook is resolved against its `cwd`. */
  readonly io: Pick<Io, "program" | "cwd">;
}

/**
 * Checks the model of teams' own lead, and the limits of its team. Makes the path of a playbook absolute.
 * @throws TeamError INVALID_MODEL, also for a limit in dollars if the model's price is not known; INVALID_INPUT for a wrong limit or
 * playbook
 */
export function ownLead(
  { options, io }: OwnLeadCall,
  given: string,
  settings: Settings,
): Pick<LeadPlan, "model" | "budget"> {
  const playbook = isScripted(given) ? playbookFile(given, io.program, io.cwd) : undefined;
  if (playbook !== undefined) loadPlaybook(playbook, [LEAD_NAME]);
  const model = playbook === undefined ? resolveModelName(given, settings.teams.models) : given;
  const budget = limitsFromOptions(options);
  if (budget.maxCostUsd !== undefined) requirePrice(model, isPricedBy(settings));
  return { model: playbook === undefined || given === SCRIPTED ? model : `${SCRIPTED}:${playbook}`, budget };
}
