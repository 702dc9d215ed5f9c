import { type ProtocolMessage, parseProtocol } from "./messages.ts";

/**
 * A message in one line for a person's screen: its summary or first words, or what a protocol message does. The text is
 * foreign as it came; whoever shows it takes the control characters out.
 */
export function headlineOf(text: string, summary?: string): string {
  const protocol = parseProtocol(text);
  if (protocol !== undefined) return protocolHeadline(protocol);
  return summary !== undefined && summary.trim() !== "" ? summary : firstLine(text);
}

function protocolHeadline(message: ProtocolMessage): string {
  switch (message.type) {
    case "task_assignment":
      return `assigns #${message.taskId} ${message.subject}`;
    case "task_completed":
      return `completed #${message.taskId} ${message.taskSubject}`;
    case "idle_notification":
      return message.failureReason
        ? `idle, failed: ${firstLine(message.failureReason)}`
        : idleHeadline(message);
    case "shutdown_request":
      return `asks to shut down${message.reason ? `: ${firstLine(message.reason)}` : ""}`;
    case "shutdown_approved":
      return "agrees to shut down";
    case "shutdown_rejected":
      return `refuses to shut down: ${firstLine(message.reason)}`;
    case "teammate_terminated":
      return firstLine(message.message);
    case "plan_approval_request":
      return "asks to approve its plan";
    case "plan_approval_response":
      return `${message.approved ? "approves" : "rejects"} the plan${message.feedback ? `: ${firstLine(message.feedback)}` : ""}`;
    case "permission_request":
      return `asks to use ${message.tool_name}`;
    case "permission_response":
      return "answers a permission";
    case "sandbox_permission_request":
      return `asks to reach ${firstLine(message.host) || "a host"}`;
    case "sandbox_permission_response":
      return "answers whether a host may be reached";
    case "team_permission_update":
      return "changes the team's permissions";
    case "mode_set_request":
      return `sets the mode to ${message.mode}`;
    case "question_request":
      return `asks: ${firstLine(message.question)}`;
    case "question_response":
      return `answers: ${firstLine(message.answer)}`;
    case "interrupt_request":
      return "interrupts the turn";
  }
}

function idleHeadline(message: Extract<ProtocolMessage, { type: "idle_notification" }>): string {
  const { completedTaskId: id, completedStatus: how = "success" } = message;
  if (id) return `idle, task #${id} ${how === "success" ? "done" : how}`;
  return message.summary ? `idle, ${firstLine(message.summary)}` : "is idle";
}

function firstLine(text: string): string {
  return text.split("\n").find((line) => line.trim() !== "") ?? "";
}
