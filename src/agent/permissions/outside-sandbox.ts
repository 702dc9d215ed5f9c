import type { ToolAccess } from "../tool.ts";
import type { PermissionDecision, PermissionQuestion } from "./question.ts";

/** The name in rules for Bash outside the sandbox: `UnsandboxedBash(npm publish:*)`. */
export const UNSANDBOXED_BASH = "UnsandboxedBash";

const NAMED = /^\s*UnsandboxedBash(?=\s*(?:\(|$))/;
const NAMED_IN_ANY_CASE = new RegExp(NAMED, "i");
/** Rules for the files that a command redirects from and to. */
const ABOUT_FILES = /^\s*(Read|Edit|Write)\s*(\(|$)/;

export function asksOutside(access: ToolAccess): boolean {
  return access.kind === "command" && access.outside === true;
}

/**
 * Returns the question of a command that asks to run outside the sandbox. Deny and ask rules for Bash apply, allow rules
 * only if they name this: they were written for commands in the sandbox. So was `bypassPermissions`.
 */
export function outsideQuestion(question: PermissionQuestion): PermissionQuestion {
  const { allow, ask, deny } = question.rules;
  const named = (rules: readonly string[]): string[] =>
    rules.map((rule) => rule.replace(NAMED_IN_ANY_CASE, "Bash"));
  return {
    ...question,
    mode: question.mode === "bypassPermissions" ? "default" : question.mode,
    rules: {
      allow: allow.flatMap((rule) =>
        NAMED.test(rule) ? [rule.replace(NAMED, "Bash")] : ABOUT_FILES.test(rule) ? [rule] : [],
      ),
      ask: named(ask),
      deny: named(deny),
    },
  };
}

/** Returns the decision of such a question: only a person can allow a call that no rule allows. */
export function outsideDecision(decision: PermissionDecision): PermissionDecision {
  if (decision.behavior !== "ask") return decision;
  const reason = `It runs outside the sandbox. ${decision.reason}`;
  return { ...decision, reason, guarded: true, ...(decision.guarded ? {} : { isOutside: true }) };
}
