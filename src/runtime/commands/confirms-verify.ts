import { TeamError } from "../../errors.ts";
import type { Env } from "../../os/env.ts";
import type { TeamRef } from "../../team/ref.ts";
import { readVerify } from "../../team/tasks/verify-record.ts";
import { deciderOf } from "../select-team.ts";

/**
 * Returns whether a person gave this verify command, so that it may run. A model's command remains a proposal.
 * @throws TeamError PERMISSION_DENIED if a model would remove a confirmed command
 */
export function confirmsVerify(
  ref: TeamRef,
  env: Env,
  { verify, id }: { readonly verify: string | undefined; readonly id?: string },
): boolean {
  if (verify === undefined || deciderOf(env) === "person") return verify !== undefined;
  if (verify === "" && id !== undefined && readVerify(ref, id) !== undefined) {
    throw new TeamError(
      "PERMISSION_DENIED",
      `Only a person can remove the verify command of task #${id}; nothing was changed.`,
      { hint: "Ask the user to remove it." },
    );
  }
  return false;
}
