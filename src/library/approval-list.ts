import { TeamError } from "../errors.ts";
import { approvalDetails, listApprovals } from "../operations/approvals/approvals.ts";
import { openForeignRequests } from "../operations/approvals/foreign-requests.ts";
import { isCrashId } from "../protocol/request-ids.ts";
import { type AlwaysAllow, giveAnswer } from "../runtime/commands/answer-request.ts";
import { defined } from "../schema/defined.ts";
import { WORKING_MODES } from "../schema/permission-modes.ts";
import type { TeamAccess } from "./access.ts";
import { attempt } from "./attempt.ts";
import { requireChoice, requireChoices } from "./checks.ts";
import type { ApproveOptions } from "./options.ts";
import type { Approvals } from "./parts.ts";
import type { Approval } from "./values.ts";

/** Returns the requests of a team, or those of one member. */
export function approvalList(access: TeamAccess, from?: string): Approvals {
  const list = async (): Promise<readonly Approval[]> => {
    const { ref } = access.open();
    await openForeignRequests(ref, access.host.env);
    const all = listApprovals(ref);
    return from === undefined ? all : all.filter((one) => one.from === from);
  };
  const answer = (id: string, approve: boolean, options: ApproveOptions): Promise<Approval> =>
    attempt(options.signal, async (signal) => {
      const { note, mode } = options;
      requireChoice("mode", mode, WORKING_MODES);
      const allowed = rulesIn(options);
      await requireOwn(id);
      if (isCrashId(id) && (allowed !== undefined || mode !== undefined)) throw crashError(id);
      const given = await giveAnswer(
        access.caller(signal),
        access.open(),
        id,
        defined({ approve, mode, note: note === "" ? undefined : note }),
        allowed,
        signal,
      );
      for (const text of given.withoutRules) access.host.note(text);
      return given.approval;
    });
  const requireOwn = async (id: string): Promise<void> => {
    const open = await list();
    if (from === undefined || open.some((one) => one.id === id)) return;
    throw new TeamError("REQUEST_NOT_FOUND", `${from} has no open request ${id}; nothing was answered.`);
  };
  return {
    list: () => attempt(undefined, list),
    get: (id) =>
      attempt(undefined, async () => {
        await requireOwn(id);
        return approvalDetails(access.open().ref, id);
      }),
    approve: (id, options = {}) => answer(id, true, options),
    reject: (id, { note, signal } = {}) => answer(id, false, { note, signal }),
  };
}

/**
 * Returns the calls that an answer allows from now on. Only `true` means the suggested rules: an empty list is an error.
 * @throws TeamError INVALID_INPUT
 */
function rulesIn({ always = false, save }: ApproveOptions): AlwaysAllow | undefined {
  requireChoices({ save });
  if (always === true) return { rules: [], save };
  if (always !== false && always.length > 0) return { rules: always, save };
  if (always === false && save === undefined) return undefined;
  const what = always === false ? "There are no rules to save" : "The list of rules is empty";
  throw new TeamError("INVALID_INPUT", `${what}; nothing was answered.`, {
    hint: "Pass the rules as `always`, or true for the suggested rules.",
  });
}

function crashError(id: string): TeamError {
  return new TeamError(
    "INVALID_INPUT",
    `${id} is a crash: approving it takes no options. Nothing was restarted.`,
    {
      hint: "Approve it without mode, always and save.",
    },
  );
}
