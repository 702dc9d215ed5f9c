import { isCodeOnly } from "../../protocol/messages.ts";
import { rulesAdded } from "../../protocol/permission-messages.ts";
import { permissionMode } from "../../schema/config.ts";
import type { InboxEntry } from "../../team/mailbox/receive.ts";
import type { PermissionRequests } from "../gates/permission-requests.ts";
import type { PlanApproval } from "../gates/plan-approval.ts";
import type { StatusKeeper } from "../status-record.ts";
import type { WorkerView } from "../view.ts";

/** What messages that code alone handles act on. */
export interface AtOnceParts {
  readonly plan: PlanApproval;
  readonly desk: PermissionRequests;
  readonly status: StatusKeeper;
  readonly view: WorkerView;
  interrupt(): void;
  /** The lead's side of permissions. */
  onSilent?(entry: InboxEntry): Promise<void>;
}

/**
 * Handles what code alone handles, at once, also while a turn runs.
 * @returns whether it did; what it did not is for a turn
 */
export async function handleControlMessage(entry: InboxEntry, parts: AtOnceParts): Promise<boolean> {
  const message = entry.protocol;
  switch (message?.type) {
    case "interrupt_request":
      parts.interrupt();
      return true;
    case "mode_set_request":
      setMode(message.mode, parts);
      return true;
    case "permission_response":
    case "sandbox_permission_response":
      parts.desk.answered(message);
      return true;
    case "team_permission_update":
      parts.desk.allow(rulesAdded(message.permissionUpdate));
      return true;
    case "plan_approval_response": {
      // One for a request that is not open is late, or a duplicate: it does nothing (S64). One that counts is a turn.
      const counts = await parts.plan.answered(message, entry.key);
      if (counts) parts.status.happened("plan_answered");
      return !counts;
    }
    default:
      if (message === undefined || !isCodeOnly(message.type)) return false;
      await parts.onSilent?.(entry);
      return true;
  }
}

function setMode(wanted: string, { plan, view }: AtOnceParts): void {
  const mode = permissionMode.safeParse(wanted);
  if (!mode.success) {
    view.note(`unknown permission mode ${wanted}: not changed`);
    return;
  }
  const why = plan.setMode(mode.data);
  const told = why === undefined ? "is now" : `is forbidden by ${why}: it is not`;
  view.note(`permission mode ${told} ${mode.data}`);
}
