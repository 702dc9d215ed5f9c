import { TeamError } from "../errors.ts";
import type { MessageOf } from "../protocol/messages.ts";
import type { PermissionMode } from "../schema/config.ts";
import { openRequest } from "../team/requests.ts";
import { answerApproval } from "./approvals.ts";
import type { LeadContext } from "./context.ts";

/**
 * The lead's side of a teammate's permission request: its own mode decides where it can, else a person does; a lead's
 * model never (protocol.md section 4).
 * @returns `person` when it waits for one
 */
export async function answerPermission(
  ctx: LeadContext,
  from: string,
  message: MessageOf<"permission_request">,
  mode: PermissionMode,
): Promise<"answered" | "person"> {
  recordForeign(ctx, from, message);
  const verdict = mode === "bypassPermissions" ? true : mode === "dontAsk" ? false : undefined;
  if (verdict === undefined) return "person";
  try {
    await answerApproval(ctx, message.request_id, {
      approve: verdict,
      note: `decided by the lead's mode ${mode}`,
    });
  } catch (error) {
    // The person at the agent's own pane may have been first: that answer stands.
    const late =
      error instanceof TeamError && (error.code === "ALREADY_ANSWERED" || error.code === "REQUEST_NOT_FOUND");
    if (!late) throw error;
  }
  return "answered";
}

/** A peer of ours has opened the request itself; for a foreign one we do, so that `approvals` shows it. */
function recordForeign(ctx: LeadContext, from: string, message: MessageOf<"permission_request">): void {
  openRequest(ctx.ref, {
    id: message.request_id,
    kind: "permission",
    from,
    summary: `${message.tool_name}(${JSON.stringify(message.input).slice(0, 200)})`,
    payload: { input: message.input, tool: message.tool_name },
    at: ctx.clock.now(),
  });
}
