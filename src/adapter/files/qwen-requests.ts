import { TEAM_SERVER } from "../channel.ts";
import { fieldsOf } from "../reported-values.ts";

/** A request of Qwen for permission. */
export interface QwenRequest {
  /** Identifies the request in the answer. */
  readonly id: string;
  readonly callId: string;
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** Reads a `control_request`. @returns undefined for any other value */
export function qwenRequest({
  request_id,
  request,
}: Readonly<Record<string, unknown>>): QwenRequest | undefined {
  const { subtype, tool_name, tool_use_id, input } = fieldsOf(request);
  if (subtype !== "can_use_tool" || typeof request_id !== "string" || typeof tool_name !== "string")
    return undefined;
  const callId = typeof tool_use_id === "string" ? tool_use_id : request_id;
  return { id: request_id, callId, tool: tool_name, input: fieldsOf(input) };
}

/** Whether a request is for a tool of the team. Such tools act only on the team, and check what their caller may do. */
export function isTeamTool({ tool }: QwenRequest): boolean {
  return tool.startsWith(`mcp__${TEAM_SERVER}__`);
}

/** Whether only a person can answer a request. */
export function isQuestion({ tool }: QwenRequest): boolean {
  return tool === "ask_user_question";
}
