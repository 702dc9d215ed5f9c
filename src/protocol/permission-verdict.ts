import type { MessageOf } from "./messages.ts";
import { rulesAdded } from "./permission-updates.ts";

/** What an answer to a permission request says, whichever of its forms it has. */
export interface PermissionVerdict {
  readonly requestId: string;
  readonly allowed: boolean;
  readonly note: string | undefined;
  /** Allow rules that come with it; none with a refusal. */
  readonly rules: readonly string[];
  /** What is to run in place of what was asked for, where it is said; what was asked for with most answers. */
  readonly input?: Readonly<Record<string, unknown>> | undefined;
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
    input: allowed ? inputOf(message.response?.updated_input) : undefined,
  };
}

function inputOf(value: unknown): PermissionVerdict["input"] {
  const isRecord = typeof value === "object" && value !== null && !Array.isArray(value);
  return isRecord ? (value as Readonly<Record<string, unknown>>) : undefined;
}
