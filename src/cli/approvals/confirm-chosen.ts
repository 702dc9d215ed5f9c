import { approvalDetails } from "../../operations/approvals/approvals.ts";
import { withShortRules } from "../../operations/approvals/request-texts.ts";
import type { TeamRef } from "../../team/ref.ts";
import type { AnyCall } from "../../terminal/call.ts";
import { line } from "../../terminal/output.ts";
import { terminalAbilities } from "../../terminal/terminal-abilities.ts";
import { canAsk, isYes, pagedAnswer } from "../paged-answer.ts";
import { requestRows } from "./request-rows.ts";

/**
 * Shows the request that `approve` has chosen without an id, and asks the user on a terminal whether they have read this one: an
 * earlier request may have been answered meanwhile. Does not ask for a crash, and for a question only if its default is the answer.
 * @returns whether to approve it
 */
export async function confirmChosen(
  call: AnyCall,
  ref: TeamRef,
  id: string,
  note: string | undefined,
): Promise<boolean> {
  if (!canAsk(call)) return true;
  const { io } = call;
  const approval = withShortRules(ref, await approvalDetails(ref, id));
  const { kind, from } = approval;
  if (kind === "crash" || (kind === "question" && note !== undefined)) return true;
  const rows = requestRows(approval, {
    width: io.columns ?? Number.POSITIVE_INFINITY,
    plain: true,
    ascii: terminalAbilities(io.env).ascii,
  });
  return isYes(await pagedAnswer(io, rows, line`Approve this ${kind} of ${from}? [y/N] `));
}
