import { modelFacts } from "../agent/model/catalog.ts";
import { isScripted, resolveModelName } from "../agent/model/model-names.ts";
import type { IsPriced } from "../operations/budget.ts";
import type { Settings } from "./settings-schema.ts";

/** Whether the price of a model is known, by these settings or by itself; a playbook costs nothing that could be counted. */
export function isPricedBy({ teams }: Settings): IsPriced {
  return (model) =>
    !isScripted(model) &&
    modelFacts(resolveModelName(model, teams.models), teams.prices, model).rates !== undefined;
}
