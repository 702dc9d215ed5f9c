import { isDeepStrictEqual } from "node:util";
import { redactValue, secretsOf } from "../../os/redact.ts";
import type { PermissionMode } from "../../schema/permission-modes.ts";
import { revealHidden } from "../../text/terminal-text.ts";
import type { AgentEvent } from "../events.ts";
import type { HookOutcome } from "../hooks/hooks.ts";
import type { ToolUseBlock } from "../model/model.ts";
import { applyHook, decidePermission, leadsTo } from "../permissions/decide.ts";
import { asksOutside, UNSANDBOXED_BASH } from "../permissions/outside-sandbox.ts";
import type { PermissionDecision, PermissionQuestion } from "../permissions/question.ts";
import type { PermissionRules } from "../permissions/rules.ts";
import { cachedResolver, isExcludedFromSearch, mayConnect } from "../permissions/search-filter.ts";
import type { ShellLine } from "../permissions/shell-line.ts";
import { suggestRules } from "../permissions/suggest-rules.ts";
import type { AnyTool, ToolAccess, ToolContext, ToolResult } from "../tool.ts";

/** A call that waits for an answer of a person or the lead. */
export interface PermissionAsk {
  readonly tool: string;
  readonly toolUseId: string;
  /** One line for a person. */
  readonly summary: string;
  /** Description of the subagent that makes the call; undefined for the agent itself. */
  readonly subagentTask?: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly access: ToolAccess;
  /** Why it asks. */
  readonly reason: string;
  /** Only a person can allow it, and only exactly this call. */
  readonly guarded: boolean;
  /** The rules that an “always” creates; empty if no rule can allow the call. */
  readonly rules: readonly string[];
  /** Decides on the call again: mode or rules may have changed since. */
  decideAgain(): PermissionDecision;
}

export interface PermissionAnswer {
  readonly allowed: boolean;
  /** Goes to the model with the result. */
  readonly note?: string;
  /** Replaces the input of the call. If undefined, or equal to the shown input, the call runs with its own. */
  readonly input?: Readonly<Record<string, unknown>>;
}

/** The rights of an agent. Rights that can change while it runs are functions. */
export interface AgentPermissions {
  mode(): PermissionMode;
  readonly rules: PermissionRules | (() => PermissionRules);
  /** Relative patterns of rules start in the first. */
  readonly workingDirs: readonly string[] | (() => readonly string[]);
  /** Other directories that may be read. */
  readonly readDirs?: readonly string[];
  readonly planFile?: string;
  /** Directories that only a person can allow to change: teams' root. */
  readonly protectedDirs?: readonly string[];
  /** Directory of the agent's notes, with every link resolved. */
  readonly notes?: string;
  /** Whether the agent only coordinates in delegate mode. True for a lead. */
  readonly coordinator?: boolean;
  /** Resolves with the answer, or rejects when the signal aborts. */
  ask(request: PermissionAsk, signal: AbortSignal): Promise<PermissionAnswer>;
}

/** A tool call with its parsed input. */
export interface PermittedCall {
  readonly tool: AnyTool;
  /** Parsed by the tool's schema. */
  readonly input: unknown;
  readonly use: ToolUseBlock;
  readonly context: ToolContext;
}

/** The rights that a call is checked against, and the receiver of its events. */
export interface CallRights {
  readonly permissions: AgentPermissions;
  readonly signal: AbortSignal;
  readonly emit: (event: AgentEvent) => void;
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
  const { answer, decision } = isAsked
    ? await askUntilUnchanged(call, { question, decision: first, hookOutcome }, run)
    : { answer: { allowed: first.behavior === "allow" } as PermissionAnswer, decision: first };
  const { allowed, note } = answer;
  // The reason of the request does not explain why it was allowed.
  const reason = note ?? (allowed && isAsked ? undefined : decision.reason);
  run.emit({
    type: "permission_decided",
    tool: tool.name,
    allowed,
    asked: isAsked,
    ...(reason === undefined ? {} : { reason }),
  });
  if (!allowed)
    return refusedResult(tool, note === undefined ? decision.reason : `${decision.reason} Note: ${note}`);
  const result =
    answer.input === undefined
      ? await execute(call, question)
      : await executeChanged(call, answer.input, question, run.permissions);
  return note === undefined ? result : withNote(result, `Note with the permission: ${note}`);
}

function mayRead(question: PermissionQuestion): boolean {
  const { access } = question;
  if (access.kind !== "write") return false;
  const read = { ...question, tool: "Read", access: { kind: "read", paths: access.paths } } as const;
  return decidePermission(read).behavior === "allow";
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
    return refusedResult(tool, "It was allowed with a changed input that the tool does not accept.");
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
  return { ...result, content: `${result.content}\n\n${note}` };
}

async function questionOf(
  { tool, input, context }: PermittedCall,
  permissions: AgentPermissions,
): Promise<PermissionQuestion> {
  const access = accessOf(tool.access(input, context), context);
  return {
    ...currentRights(permissions),
    tool: tool.name,
    served: tool.served,
    access,
    line: access.kind === "command" ? await readLine(access.command) : undefined,
    readDirs: permissions.readDirs,
    planFile: permissions.planFile,
    protectedDirs: permissions.protectedDirs,
    notes: permissions.notes,
    home: context.env.HOME,
    coordinator: permissions.coordinator,
    isSandboxed: access.kind === "command" && context.sandbox !== undefined && access.outside !== true,
  };
}

/** Without a sandbox, a command cannot ask to run outside it. */
function accessOf(access: ToolAccess, { sandbox }: ToolContext): ToolAccess {
  return access.kind === "command" && sandbox === undefined
    ? { kind: "command", command: access.command }
    : access;
}

interface PendingDecision {
  readonly question: PermissionQuestion;
  readonly decision: PermissionDecision;
  readonly hookOutcome: HookOutcome | undefined;
}

/** Maximum requests for one call whose files lead elsewhere after each approval. Such changes are not accidental. */
const MAX_REQUESTS = 3;

/**
 * Requests permission and checks an approval against the state when it arrives. A call that is denied by then is refused. A call
 * whose files lead elsewhere, or that only a person can allow by then, is asked again.
 * @returns the answer, and the decision that it answers
 */
async function askUntilUnchanged(
  call: PermittedCall,
  { question, decision, hookOutcome }: PendingDecision,
  run: CallRights,
): Promise<{ readonly answer: PermissionAnswer; readonly decision: PermissionDecision }> {
  let shown = decision;
  for (let asks = 0; asks < MAX_REQUESTS; asks += 1) {
    const places = leadsTo(question);
    const answer = await requestPermission(call, { question, decision: shown, hookOutcome }, run);
    if (!answer.allowed) return { answer, decision: shown };
    const now = decideWithHook({ ...question, ...currentRights(run.permissions) }, hookOutcome);
    if (now.behavior === "deny") return { answer: { allowed: false }, decision: now };
    const isSame = isDeepStrictEqual(leadsTo(question), places) && (shown.guarded || !now.guarded);
    if (now.behavior === "allow" || isSame) return { answer, decision: shown };
    shown = now;
  }
  const reason = `Its files led elsewhere after each approval. ${shown.reason}`;
  return { answer: { allowed: false }, decision: { ...shown, reason } };
}

async function requestPermission(
  { tool, input, use, context }: PermittedCall,
  { question, decision, hookOutcome }: PendingDecision,
  { permissions, signal, emit }: CallRights,
): Promise<PermissionAnswer> {
  const summary = revealHidden(tool.summary(input));
  emit({ type: "permission_asked", tool: tool.name, summary });
  // Only the request is redacted, because it is shown, sent and recorded. The call runs with its own input.
  const request = redactValue(
    {
      tool: tool.name,
      toolUseId: use.id,
      summary,
      input: use.input as Readonly<Record<string, unknown>>,
      access: question.access,
      reason: question.isSandboxed ? `${decision.reason} It runs in the sandbox.` : decision.reason,
      guarded: decision.guarded === true,
      rules: rulesFor(question, decision),
    },
    secretsOf(context.env),
  );
  const again = (): PermissionDecision =>
    decideWithHook({ ...question, ...currentRights(permissions) }, hookOutcome);
  const answer = await permissions.ask({ ...request, decideAgain: again }, signal);
  signal.throwIfAborted();
  const { input: made, ...rest } = answer;
  // The shown input is redacted: an answer with exactly that input means the call's own.
  return made === undefined || isDeepStrictEqual(made, request.input) ? rest : answer;
}

/** Returns the rules that “always” creates; none if only exactly this call can be allowed. */
function rulesFor(
  question: PermissionQuestion,
  { guarded, isOutside }: PermissionDecision,
): readonly string[] {
  if (isOutside) return suggestRules({ ...question, tool: UNSANDBOXED_BASH });
  return guarded ? [] : suggestRules(question);
}

function decideWithHook(
  question: PermissionQuestion,
  hookOutcome: HookOutcome | undefined,
): PermissionDecision {
  return applyHook(decidePermission(question), hookOutcome?.permission, question.mode);
}

/** Returns the rights that can change while a call waits. */
function currentRights({
  mode,
  rules,
  workingDirs,
}: AgentPermissions): Pick<PermissionQuestion, "mode" | "rules" | "workingDirs"> {
  return {
    mode: mode(),
    rules: typeof rules === "function" ? rules() : rules,
    workingDirs: typeof workingDirs === "function" ? workingDirs() : workingDirs,
  };
}

/** Parses a command line. Loads the grammar of bash at the first command. */
async function readLine(command: string): Promise<ShellLine> {
  const { readShellLine } = await import("../permissions/shell-line.ts");
  return readShellLine(command);
}
