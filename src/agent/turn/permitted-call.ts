import type { HookOutcome } from "../hooks/hooks.ts";
import { decidePermission } from "../permissions/decide.ts";
import { asksOutside } from "../permissions/outside-sandbox.ts";
import type { PermissionQuestion } from "../permissions/question.ts";
import { cachedResolver, isExcludedFromSearch, mayConnect } from "../permissions/search-filter.ts";
import type { AnyTool, ToolContext, ToolResult } from "../tool.ts";
import {
  type AgentPermissions,
  type AskedCall,
  type CallRights,
  decideWithHook,
  mayRead,
  permitted,
  questionOf,
} from "./permission.ts";

/** A tool call with its parsed input. */
export interface PermittedCall extends AskedCall {
  readonly tool: AnyTool;
  readonly context: ToolContext;
}

/**
 * Executes a call if it is allowed, after a permission request if one is needed.
 * @param hookOutcome of the hooks that ran before the call
 */
export async function permitAndExecute(
  call: PermittedCall,
  run: CallRights,
  hookOutcome: HookOutcome | undefined,
): Promise<ToolResult> {
  const { tool } = call;
  const question = await questionOf(call, run.permissions);
  const first = decideWithHook(question, hookOutcome);
  const isAsked = first.behavior === "ask";
  const failure = isAsked ? tool.knownFailure?.(call.input, call.context, mayRead(question)) : undefined;
  if (failure !== undefined) return failure;
  const { answer, decision } = await permitted(call, { question, decision: first, hookOutcome }, run);
  const { allowed, note } = answer;
  if (!allowed)
    return refusedResult(tool, note === undefined ? decision.reason : `${decision.reason} Note: ${note}`);
  const result =
    answer.input === undefined
      ? await execute(call, question)
      : await executeChanged(call, answer.input, question, run.permissions);
  return note === undefined ? result : withNote(result, `Note with the permission: ${note}`);
}

function execute({ tool, input, context }: PermittedCall, question: PermissionQuestion): Promise<ToolResult> {
  const searchQuestion = { ...question, resolve: cachedResolver() };
  return tool.execute(input, {
    ...context,
    isExcludedFromSearch: (path) => isExcludedFromSearch(path, searchQuestion),
    mayConnect: (address) => mayConnect(address, question),
  });
}

/** Executes a call with the input of the answer (interop.md: `updated_input` is what runs). Deny rules still apply. */
async function executeChanged(
  call: PermittedCall,
  changed: Readonly<Record<string, unknown>>,
  shown: PermissionQuestion,
  permissions: AgentPermissions,
): Promise<ToolResult> {
  const { tool } = call;
  const parsed = tool.input.safeParse(changed);
  if (!parsed.success)
    return refusedResult(tool, "The call was allowed with a changed input that the tool does not accept.");
  const other = { ...call, input: parsed.data };
  const question = await questionOf(other, permissions);
  if (asksOutside(question.access) && !asksOutside(shown.access))
    return refusedResult(tool, "Only the agent itself can ask to run a command outside the sandbox.");
  const { behavior, reason } = decidePermission(question);
  if (behavior === "deny") return refusedResult(tool, reason);
  const note = `The call was changed when it was allowed; it ran with ${JSON.stringify(changed)}`;
  return withNote(await execute(other, question), note);
}

function refusedResult({ name }: AnyTool, why: string): ToolResult {
  return { content: `Permission for ${name} was refused. ${why}`, isError: true };
}

function withNote(result: ToolResult, note: string): ToolResult {
  return { ...result, notes: [...(result.notes ?? []), note] };
}
