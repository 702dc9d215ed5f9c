import type { Env } from "../../os/env.ts";
import type { TeamConfig } from "../../schema/config.ts";
import { readMetadata } from "../../schema/member-metadata.ts";
import { modeOfMember, type SandboxMode } from "../../schema/permission-modes.ts";
import { limitsOf } from "../../team/members/budget.ts";
import type { NewMember } from "../../team/members/members.ts";
import { type IsPriced, requirePrice } from "../budget.ts";

/** @throws TeamError INVALID_MODEL if a cost limit applies to a model without a known price */
export function requirePrices(
  config: TeamConfig,
  drafts: readonly NewMember[],
  isPriced: IsPriced | undefined,
): void {
  if (isPriced === undefined) return;
  for (const draft of drafts) {
    const isLimited = [config, draft].some((one) => limitsOf(one)?.maxCostUsd !== undefined);
    if (isLimited && draft.model !== undefined) requirePrice(draft.model, isPriced);
  }
}

/**
 * @param setting the sandbox mode of the settings
 * @throws TeamError SPAWN_FAILED if a member requires a sandbox that this machine lacks
 */
export async function requireSandboxes(
  drafts: readonly NewMember[],
  setting: SandboxMode = "off",
  env: Env,
): Promise<void> {
  const needy = drafts.find((draft) => modeOfMember(setting, readMetadata(draft, "sandbox")) === "required");
  if (needy === undefined) return;
  const { requireSandbox } = await import("../../agent/sandbox/require-sandbox.ts");
  await requireSandbox(needy.name, env);
}
