import type { MessageOf } from "./messages.ts";

/** Where a rule is kept, as peers name it. */
const DESTINATIONS = ["session", "userSettings", "projectSettings", "localSettings"] as const;
export type RuleDestination = (typeof DESTINATIONS)[number];

/** A suggestion or update that adds allow rules (protocol.md section 4). */
export function addRules(rules: readonly string[], destination: RuleDestination): object {
  return { type: "addRules", rules: rules.map(split), behavior: "allow", destination };
}

/** `Bash(git:*)` as peers write it. */
function split(rule: string): { toolName: string; ruleContent?: string } {
  const open = rule.indexOf("(");
  return open < 0 || !rule.endsWith(")")
    ? { toolName: rule }
    : { toolName: rule.slice(0, open), ruleContent: rule.slice(open + 1, -1) };
}

/** The allow rules that an update adds; a peer may write a rule, or all of it, as a string. What is none of these adds none. */
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

/** What an answer to a permission request says, whichever of its forms it has. */
interface PermissionVerdict {
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
