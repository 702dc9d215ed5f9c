import type { MessageOf } from "./messages.ts";
import { rulesAdded } from "./permission-updates.ts";

/** What an answer to a permission request says, whichever of its forms it has. */
export interface PermissionVerdict {
  readonly requestId: string;
  readonly allowed: boolean;
  readonly note: string | undefined;
  /** Allow rules that come with it; none with a refusal. */
  readonly rules: readonly string[];
}

export type PermissionResponse = MessageOf<"permission_response"> | MessageOf<"sandbox_permission_response">;

export function verdictOf(message: PermissionResponse): PermissionVerdict {
  if (message.type === "sandbox_permission_response") {
    const { requestId, allow: allowed, feedback: note, permission_updates: updates } = message;
    return { requestId, allowed, note, rules: allowed ? updates.flatMap(rulesAdded) : [] };
  }
  const allowed = message.subtype === "success" || message.decision === "approved";
  const updates = message.response?.permission_updates;
  return {
    requestId: message.request_id,
    allowed,
    note: message.feedback ?? message.error,
    rules: allowed && Array.isArray(updates) ? updates.flatMap(rulesAdded) : [],
  };
}
