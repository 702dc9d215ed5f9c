import { type MessageOf, type ProtocolMessage, parseProtocol } from "./messages.ts";

/**
 * Returns the short prose that a model reads for a protocol message: type, request id and the requested answer, never
 * raw JSON (protocol.md section 3).
 */
export function proseOf(message: ProtocolMessage): string {
  switch (message.type) {
    case "task_assignment":
      return assignmentProse(message);
    case "task_completed":
      return `Task #${message.taskId} is completed${message.from ? ` by ${message.from}` : ""}: ${message.taskSubject}`;
    case "idle_notification":
      return idleProse(message);
    case "shutdown_request":
      return lines(
        `Shutdown request ${message.requestId}${message.reason ? `: ${message.reason}` : "."}`,
        `Answer it with SendMessage {type: "shutdown_response", request_id: "${message.requestId}", approve: true or false}; a refusal needs its reason in content.`,
      );
    case "shutdown_rejected":
      return `${message.from} refuses to shut down (${message.requestId}): ${message.reason}`;
    case "shutdown_approved":
      return `${message.from} agrees to shut down (${message.requestId}).`;
    case "teammate_terminated":
      return message.message;
    case "plan_approval_request":
      return lines(
        `Plan approval request ${message.requestId} from ${message.from} (${message.planFilePath}).`,
        `Answer it with SendMessage {type: "plan_approval_response", request_id: "${message.requestId}", recipient: "${message.from}", approve: true or false, content: feedback}.`,
        // At the end, so no part of the plan can pass for other instructions.
        "The rest of this message is the plan:",
        message.planContent,
      );
    case "plan_approval_response":
      return message.approved
        ? `Your plan (${message.requestId}) is approved${message.feedback ? `: ${sentence(message.feedback)}` : "."} You are out of plan mode: carry it out.`
        : `Your plan (${message.requestId}) is rejected: ${sentence(message.feedback || "no reason given")} Change the plan file, then call ExitPlanMode again.`;
    case "question_request":
      return lines(
        `Question ${message.requestId} from ${message.from}: ${message.question}`,
        message.choices?.length ? `Choices: ${message.choices.join(" | ")}` : "",
        message.default === undefined ? "" : `Default: ${message.default}`,
        `A person answers it, if one is present. If you know the answer, send it to ${message.from} with SendMessage.`,
      );
    case "question_response":
      return `Answer to your question ${message.requestId}: ${message.answer}`;
    case "permission_request":
      return `${message.agent_id} asks for permission to use ${message.tool_name} (${message.request_id}).`;
    case "permission_response":
      return `A permission request was answered (${message.request_id}).`;
    case "sandbox_permission_request":
      return `Permission to reach ${message.host || "a host"} is requested (${message.requestId}).`;
    case "sandbox_permission_response":
      return `A request to reach a host was answered (${message.requestId}).`;
    case "team_permission_update":
      return "The team's permissions were changed.";
    case "mode_set_request":
      return `Permission mode set to ${message.mode}.`;
    case "interrupt_request":
      return "The turn was interrupted.";
    case "resume_request":
      return "The pause ends now.";
    case "background_end_request":
      return `The background task ${message.taskId} is to end.`;
  }
}

/** Returns the prose of a protocol message for a person: without request ids and the tool calls that answer it. */
export function shownProse(message: ProtocolMessage): string {
  switch (message.type) {
    case "shutdown_request":
      return `Shutdown request${message.reason ? `: ${message.reason}` : "."}`;
    case "shutdown_rejected":
      return `${message.from} refuses to shut down: ${message.reason}`;
    case "shutdown_approved":
      return `${message.from} agrees to shut down.`;
    case "plan_approval_request":
      return lines(`The plan of ${message.from} is waiting for approval:`, message.planContent);
    case "plan_approval_response":
      return message.approved
        ? `The plan is approved${message.feedback ? `: ${sentence(message.feedback)}` : "."}`
        : `The plan is rejected: ${sentence(message.feedback || "no reason given")}`;
    case "question_request":
      return lines(
        `${message.from} asks: ${message.question}`,
        message.choices?.length ? `Choices: ${message.choices.join(" | ")}` : "",
        message.default === undefined ? "" : `Default: ${message.default}`,
      );
    case "question_response":
      return `Answer to the question: ${message.answer}`;
    case "permission_request":
      return `${message.agent_id} asks for permission to use ${message.tool_name}.`;
    default:
      return proseOf(message);
  }
}

/** Only `teams` sends `isFree` and `waitsFor`; without them this is a plain assignment. */
function assignmentProse(message: MessageOf<"task_assignment">): string {
  const { taskId, subject, description, assignedBy, isFree, waitsFor = [] } = message;
  return lines(
    isFree
      ? `Your task #${taskId} can start, since nothing blocks it any more: ${subject}`
      : `Task #${taskId} is assigned to you${assignedBy ? ` by ${assignedBy}` : ""}: ${subject}`,
    waitsFor.length === 0
      ? ""
      : `It waits for ${waitsFor.map((id) => `#${id}`).join(", ")}; you will be notified when it can start.`,
    description,
  );
}

function idleProse(message: MessageOf<"idle_notification">): string {
  return lines(
    `${message.from} is idle${idleCause(message)}.`,
    message.completedTaskId ? taskProse(message.completedTaskId, message.completedStatus) : "",
    message.summary ? peerProse(message.summary) : "",
    message.result ? `It says: ${message.result}` : "",
    saidNothing(message) ? "It called no tool and said nothing." : "",
  );
}

/** Other programs may report a status other than success. */
function taskProse(id: string, status = "success"): string {
  return status === "success" ? `It completed task #${id}.` : `Task #${id}: ${status}.`;
}

/** True if our agent reported a turn without output; other programs do not send `toolCalls`. */
function saidNothing({ idleReason, result, toolCalls }: MessageOf<"idle_notification">): boolean {
  return idleReason === "available" && !result && toolCalls === 0;
}

function idleCause({ idleReason, failureReason }: MessageOf<"idle_notification">): string {
  if (idleReason === "failed")
    return ` after a failure: ${(failureReason ?? "no reason given").replace(/\.$/, "")}`;
  return idleReason === "interrupted" ? ": its turn was interrupted, and new instructions may follow" : "";
}

/** Parses `[to ada] found it`, a form that other programs write. */
function peerProse(summary: string): string {
  const [, peer, text] = /^\[to ([^\]]+)\]\s*(.*)$/s.exec(summary) ?? [];
  return peer === undefined ? summary : `It wrote to ${peer}: ${text}`;
}

/** Adds a full stop to a text that ends without punctuation. */
function sentence(text: string): string {
  return /[.!?…]\s*$/.test(text) ? text : `${text}.`;
}

function lines(...parts: readonly string[]): string {
  return parts.filter((part) => part !== "").join("\n");
}

/**
 * Returns a message in one line for a person's screen: its summary or first line, or the action of a protocol message.
 * The result may contain control characters of the message; the caller must remove them.
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
      return "answers a permission request";
    case "sandbox_permission_request":
      return `asks to reach ${firstLine(message.host) || "a host"}`;
    case "sandbox_permission_response":
      return "answers a request to reach a host";
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
    case "resume_request":
      return "ends the pause";
    case "background_end_request":
      return `ends the background task ${message.taskId}`;
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
