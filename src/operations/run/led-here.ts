import { TeamError } from "../../errors.ts";
import { ownIdentity } from "../../os/process/identity.ts";
import type { TeamConfig } from "../../schema/config.ts";
import { readTeam } from "../../team/config/config.ts";
import type { OperationContext } from "../context.ts";

/** Returns the team's config if this process leads it; undefined if the team is gone, or another team has its name. */
export function teamLedHere({ ref }: Pick<OperationContext, "ref">): TeamConfig | undefined {
  try {
    const config = readTeam(ref);
    const own = ownIdentity();
    const { pid, procStart } = config.leadProcess ?? {};
    return pid === own.pid && procStart === own.procStart ? config : undefined;
  } catch (error) {
    if (error instanceof TeamError && error.code === "TEAM_NOT_FOUND") return undefined;
    throw error;
  }
}
