import { knownAdapters } from "../../adapter/adapters.ts";
import type { KnownCosts } from "../../operations/budget.ts";
import { isPricedBy } from "../../settings/settings.ts";
import type { Settings } from "../../settings/settings-schema.ts";

/** Returns the costs of models and CLIs that the settings know. The adapters are loaded only for a budget. */
export function knownCosts(settings: Settings): KnownCosts {
  const known = knownAdapters(settings.teams.adapters);
  return { isPriced: isPricedBy(settings), reportsOf: (cli) => known.get(cli)?.reports };
}
