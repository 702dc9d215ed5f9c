import type { MessageOf } from "./messages.ts";

/** The places that store a rule, by their protocol names. */
const DESTINATIONS = ["session", "userSettings", "projectSettings", "localSettings"] as const;
export type RuleDestination = (typeof DESTINATIONS)[number];

/** Returns a suggestion or update that adds allow rules (protocol.md section 4). */
export function addRules(rules: readonly string[], destination: RuleDestination): object {
  return { type: "addRules", rules: rules.map(split), behavior: "allow", destination };
}

/** Splits `Bash(git:*)` into the fields of the protocol. */
function split(rule: string): { toolName: string; ruleContent?: string } {
  const open = rule.indexOf("(");
  return open < 0 || !rule.endsWith(")")
    ? { toolName: rule }
    : { toolName: rule.slice(0, open), ruleContent: rule.slice(open + 1, -1) };
}

/** Returns the allow rules that an update adds. Other programs may write a rule, or the whole update, as a string. */
export function rulesAdded(update: unknown): readonly string[] {
  if (typeof update === "string") return [update];
  if (typeof update !== "object" || update === null) return [];
  const { type, rules, behavior } = update as Readonly<Record<string, unknown>>;
  if (type !== "addRules" || behavior !== "allow" || !Array.isArray(rules)) return [];
  return rules.flatMap(joined);
}

function joined(rule: unknown): readonly string[] {
  if (typeof rule === "string") return [rule];
  if (typeof rule !== "object" || rule === null) return [];
  const { toolName, ruleContent } = rule as Readonly<Record<string, unknown>>;
  if (typeof toolName !== "string") return [];
  return [typeof ruleContent === "string" ? `${toolName}(${ruleContent})` : toolName];
}

/** The answer to a permission request, in one shape for all its message forms. */
interface PermissionVerdict {
  readonly requestId: string;
  readonly allowed: boolean;
  readonly note: string | undefined;
  /** Allow rules that it adds; none if it denies. */
  readonly rules: readonly string[];
  /** Changed input of the tool call, if given; most answers repeat the requested input. */
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
