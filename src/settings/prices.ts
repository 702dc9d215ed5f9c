import { modelFacts } from "../agent/model/catalog.ts";
import { isScripted, resolveModelName } from "../agent/model/model-names.ts";
import type { IsPriced } from "../operations/budget.ts";
import type { Settings } from "./settings-schema.ts";

/**
 * Returns a function that tells whether a model's price is known, from these settings or the built-in catalogue. A playbook
 * has no price. In its own file, so that reading settings does not load the catalogue.
 */
export function isPricedBy({ teams }: Settings): IsPriced {
  return (model) =>
    !isScripted(model) &&
    modelFacts(resolveModelName(model, teams.models), teams.prices, model).rates !== undefined;
}
