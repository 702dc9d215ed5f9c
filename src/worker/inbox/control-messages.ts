import { isCodeOnly } from "../../protocol/messages.ts";
import { rulesAdded } from "../../protocol/permission-messages.ts";
import { permissionMode } from "../../schema/config.ts";
import type { InboxEntry } from "../../team/mailbox/receive.ts";
import type { WorkerContext } from "../context.ts";
import type { WorkerGates } from "../gates/gates.ts";
import { modeNote } from "../view.ts";

/**
 * Handles a message that needs no model, even while a turn runs.
 * @returns whether it was handled; any other message is input for a turn
 */
export async function handleControlMessage(
  entry: InboxEntry,
  context: WorkerContext,
  gates: WorkerGates,
): Promise<boolean> {
  const message = entry.protocol;
  switch (message?.type) {
    case "interrupt_request":
      if (!context.runningTurn.interrupt()) await context.agent.current?.interruptUnseen?.();
      return true;
    case "resume_request":
      gates.accountLimit.current?.resumeNow();
      return true;
    case "background_end_request":
      context.agent.current?.endBackgroundTask(message.taskId);
      return true;
    case "mode_set_request":
      setMode(message.mode, context, gates);
      return true;
    case "permission_response":
    case "sandbox_permission_response":
      gates.permissionRequests.handleResponse(message);
      return true;
    case "question_response":
      if (!gates.cliQuestions.has(message.requestId)) return false;
      gates.cliQuestions.readAnswers();
      return true;
    case "team_permission_update":
      gates.permissionRequests.allow(rulesAdded(message.permissionUpdate));
      return true;
    case "plan_approval_response": {
      // A late or duplicate verdict has no effect (S64). One for the open request is also input for a turn.
      const isForOpenRequest = await gates.planApproval.handleVerdict(message, entry.key);
      if (isForOpenRequest) context.status.report("plan_answered");
      return !isForOpenRequest;
    }
    default:
      if (message === undefined || !isCodeOnly(message.type)) return false;
      await context.handleCodeOnlyMessage?.(entry);
      return true;
  }
}

function setMode(wanted: string, { view }: WorkerContext, { planApproval }: WorkerGates): void {
  const mode = permissionMode.safeParse(wanted);
  if (!mode.success) {
    view.note(`unknown permission mode ${wanted}; the mode was not changed`);
    return;
  }
  const refusal = planApproval.setMode(mode.data);
  view.note(
    refusal === undefined
      ? modeNote(mode.data)
      : `permission mode ${mode.data} is forbidden by ${refusal}; the mode was not changed`,
  );
}
