import { TeamError } from "../errors.ts";
import { approvalDetails, listApprovals } from "../operations/approvals/approvals.ts";
import { openForeignRequests } from "../operations/approvals/foreign-requests.ts";
import { isCrashId } from "../protocol/request-ids.ts";
import { giveAnswer } from "../runtime/commands/answer-request.ts";
import { defined } from "../schema/defined.ts";
import type { TeamAccess } from "./access.ts";
import { attempt } from "./attempt.ts";
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
  const answer = async (id: string, approve: boolean, options: ApproveOptions): Promise<Approval> => {
    const { note, mode, always = false, save } = options;
    await requireOwn(id);
    if (isCrashId(id) && (always !== false || save !== undefined || mode !== undefined)) throw crashError(id);
    const allows = always !== false || save !== undefined;
    const rules = typeof always === "boolean" ? [] : always;
    const given = await giveAnswer(
      access.caller(new AbortController().signal),
      access.open(),
      id,
      defined({ approve, mode, note: note === "" ? undefined : note }),
      allows ? { rules, save } : undefined,
    );
    for (const text of given.withoutRules) access.host.note(text);
    return given.approval;
  };
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
    approve: (id, options = {}) => attempt(undefined, () => answer(id, true, options)),
    reject: (id, options = {}) => attempt(undefined, () => answer(id, false, options)),
  };
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
