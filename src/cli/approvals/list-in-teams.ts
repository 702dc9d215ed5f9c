import { isSystemError, TeamError } from "../../errors.ts";
import { type Approval, listApprovals } from "../../operations/approvals/approvals.ts";
import { openForeignRequests } from "../../operations/approvals/foreign-requests.ts";
import { askerDirectory, withShortRules } from "../../operations/approvals/request-texts.ts";
import type { Env } from "../../os/env.ts";
import type { OpenTeam } from "../../runtime/select-team.ts";
import { teamExists } from "../../team/config/config.ts";

interface TeamRequest {
  readonly approval: Approval;
  /** The request as the user reads it. */
  readonly shown: Approval;
  /** The working directory of the member that asks. */
  readonly cwd: string | undefined;
  readonly open: OpenTeam;
}

/**
 * Lists the open requests of one or several teams, oldest first.
 * @param problem receives the error of each of several teams that cannot be read; a deleted team has no requests
 * @throws the error of the only team
 */
export async function listInTeams(
  opened: readonly OpenTeam[],
  env: Env,
  problem: (error: Error) => void,
): Promise<readonly TeamRequest[]> {
  const found: TeamRequest[] = [];
  for (const open of opened) {
    try {
      await openForeignRequests(open.ref, env);
      for (const approval of listApprovals(open.ref)) {
        const shown = withShortRules(open.ref, approval);
        found.push({ approval, shown, cwd: askerDirectory(open.ref, approval), open });
      }
    } catch (error) {
      const isOfTeam = error instanceof TeamError || isSystemError(error);
      if (opened.length === 1 || !isOfTeam) throw error;
      if (teamExists(open.ref)) problem(error);
    }
  }
  return found.sort((a, b) => a.approval.at - b.approval.at);
}
