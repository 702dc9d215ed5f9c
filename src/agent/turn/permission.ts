import { isDeepStrictEqual } from "node:util";
import { homeDirectory } from "../../os/files/app-directories.ts";
import { redactValue, secretsOf } from "../../os/redact.ts";
import { isNestedTooDeeply } from "../../schema/guards/nesting.ts";
import type { PermissionMode } from "../../schema/permission-modes.ts";
import { revealHidden } from "../../text/terminal-text.ts";
import type { AgentEvent } from "../events.ts";
import type { HookOutcome } from "../hooks/hooks.ts";
import type { ToolUseBlock } from "../model/model.ts";
import { applyHook, decidePermission, leadsTo } from "../permissions/decide.ts";
import { UNSANDBOXED_BASH } from "../permissions/outside-sandbox.ts";
import type { PermissionDecision, PermissionQuestion } from "../permissions/question.ts";
import type { PermissionRules } from "../permissions/rules.ts";
import type { ShellLine } from "../permissions/shell-line.ts";
import { suggestRules } from "../permissions/suggest-rules.ts";
import type { AnyTool, ToolAccess, ToolContext } from "../tool.ts";

/** A call that waits for an answer from a person or the lead. */
export interface PermissionAsk {
  readonly tool: string;
  readonly toolUseId: string;
  /** One line for a person. */
  readonly summary: string;
  /** The path that the summary begins or ends with. */
  readonly path?: string;
  /** Description of the subagent that makes the call; undefined for the agent itself. */
  readonly subagentTask?: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** The change that the call would make to a file, as the lines of a unified diff; undefined if the input shows it. */
  readonly change?: readonly string[];
  readonly access: ToolAccess;
  /** Why the call needs an answer. */
  readonly reason: string;
  /** Only a person can allow the call, and only this one call, unless `rules` has a rule for it. */
  readonly guarded: boolean;
  /** The rules that an “always” creates; empty if no rule can allow the call. */
  readonly rules: readonly string[];
  /** Decides on the call again: mode or rules may have changed since the request. */
  decideAgain(): PermissionDecision;
}

export interface PermissionAnswer {
  readonly allowed: boolean;
  /** Text for the model, added to the result. */
  readonly note?: string;
  /** Replaces the input of the call. If undefined, or equal to the shown input, the call runs with its original input. */
  readonly input?: Readonly<Record<string, unknown>>;
}

/** The rights of an agent. Rights that can change while it runs are functions. */
export interface AgentPermissions {
  mode(): PermissionMode;
  readonly rules: PermissionRules | (() => PermissionRules);
  /** The working directories. Relative patterns of rules start in the first. */
  readonly workingDirs: readonly string[] | (() => readonly string[]);
  /** Other directories that may be read. */
  readonly readDirs?: readonly string[];
  readonly planFile?: string;
  /** Patterns of the only files that the agent may write, in every mode; undefined without a limit. */
  readonly writes?: readonly string[] | undefined;
  /** Directories that an agent may change only if a person allows it: teams' root. */
  readonly protectedDirs?: readonly string[];
  /** Directory of the agent's notes, with every link resolved. */
  readonly notes?: string;
  /** Returns why another agent reserves a file at the moment; undefined if the file is free. */
  readonly reservedBy?: (path: string) => string | undefined;
  /** Whether the agent only coordinates in delegate mode. True for a lead. */
  readonly coordinator?: boolean;
  /** Resolves with the answer, or rejects when the signal aborts. */
  ask(request: PermissionAsk, signal: AbortSignal): Promise<PermissionAnswer>;
}

/** The parts of a tool call that a permission request shows. */
export interface AskedCall {
  readonly tool: Pick<AnyTool, "name" | "served" | "access" | "summary" | "summaryPath" | "plannedChange">;
  /** Parsed by the tool's schema. */
  readonly input: unknown;
  readonly use: ToolUseBlock;
  readonly context: Pick<ToolContext, "cwd" | "env" | "sandbox">;
}

/** The rights that a call is checked against, and the receiver of its events. */
export interface CallRights {
  readonly permissions: AgentPermissions;
  readonly signal: AbortSignal;
  readonly emit: (event: AgentEvent) => void;
}

/**
 * Decides on a call that another program executes: by mode, rules and hooks, or by a permission request if these do not decide.
 * @param hookOutcome of the hooks that ran before the call
 */
export async function permit(
  call: AskedCall,
  run: CallRights,
  hookOutcome: HookOutcome | undefined,
): Promise<{ readonly answer: PermissionAnswer; readonly decision: PermissionDecision }> {
  const question = await questionOf(call, run.permissions);
  const decision = decideWithHook(question, hookOutcome);
  return permitted(call, { question, decision, hookOutcome }, run);
}

/** Requests permission if the decision is to ask. @returns the answer, and the decision that it answers */
export async function permitted(
  call: AskedCall,
  pending: PendingDecision,
  run: CallRights,
): Promise<{ readonly answer: PermissionAnswer; readonly decision: PermissionDecision }> {
  const { behavior } = pending.decision;
  const isAsked = behavior === "ask";
  const { answer, decision } = isAsked
    ? await askUntilUnchanged(call, pending, run)
    : { answer: { allowed: behavior === "allow" } as PermissionAnswer, decision: pending.decision };
  const { allowed, note } = answer;
  // The reason of the request does not explain why it was allowed.
  const reason = note ?? (allowed && isAsked ? undefined : decision.reason);
  run.emit({
    type: "permission_decided",
    id: call.use.id,
    tool: call.tool.name,
    allowed,
    asked: isAsked,
    ...(reason === undefined ? {} : { reason }),
  });
  return { answer, decision };
}

export async function questionOf(
  { tool, input, context }: AskedCall,
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
    writes: permissions.writes,
    protectedDirs: permissions.protectedDirs,
    notes: permissions.notes,
    home: homeDirectory(context.env),
    coordinator: permissions.coordinator,
    reservedBy: permissions.reservedBy,
    isSandboxed: access.kind === "command" && context.sandbox !== undefined && access.outside !== true,
  };
}

/** Without a sandbox, a command cannot ask to run outside it. */
function accessOf(access: ToolAccess, { sandbox }: AskedCall["context"]): ToolAccess {
  return access.kind === "command" && sandbox === undefined
    ? { kind: "command", command: access.command }
    : access;
}

interface PendingDecision {
  readonly question: PermissionQuestion;
  readonly decision: PermissionDecision;
  readonly hookOutcome: HookOutcome | undefined;
}

/** Maximum requests for one call whose paths lead elsewhere after each approval. Such changes are not accidental. */
const MAX_REQUESTS = 3;

/**
 * Requests permission and checks an approval against the state when it arrives. A call that is denied by then is refused. A call
 * whose paths lead elsewhere by then, or that only a person can allow by then, needs another approval.
 * @returns the answer, and the decision that it answers
 */
async function askUntilUnchanged(
  call: AskedCall,
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
  const reason = `The paths of the call led to other files after each approval. ${shown.reason}`;
  return { answer: { allowed: false }, decision: { ...shown, reason } };
}

async function requestPermission(
  { tool, input, use, context }: AskedCall,
  { question, decision, hookOutcome }: PendingDecision,
  { permissions, signal, emit }: CallRights,
): Promise<PermissionAnswer> {
  const summary = revealHidden(tool.summary(input));
  const path = tool.summaryPath?.(input);
  emit({ type: "permission_asked", id: use.id, tool: tool.name, summary });
  const change = await plannedChange({ tool, input, context }, question);
  // Only the request is redacted, because it is shown, sent and recorded. The call runs with its own input.
  const request = redactValue(
    {
      tool: tool.name,
      toolUseId: use.id,
      summary,
      ...(path === undefined ? {} : { path: revealHidden(path) }),
      input: use.input as Readonly<Record<string, unknown>>,
      ...(change === undefined ? {} : { change }),
      access: question.access,
      reason: question.isSandboxed ? `${decision.reason} The command runs in the sandbox.` : decision.reason,
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
  if (isNestedTooDeeply(made)) return { allowed: false, note: TOO_DEEP_CHANGE };
  // The shown input is redacted: an answer with exactly that input means the call's own.
  return made === undefined || isDeepStrictEqual(made, request.input) ? rest : answer;
}

/** Returns undefined if the change cannot be computed: the input then shows what the call does. */
async function plannedChange(
  { tool, input, context }: Pick<AskedCall, "tool" | "input" | "context">,
  question: PermissionQuestion,
): Promise<readonly string[] | undefined> {
  try {
    const change = await tool.plannedChange?.(input, context, mayRead(question));
    return change === undefined || change.length === 0 ? undefined : change;
  } catch {
    return undefined;
  }
}

/** Whether the agent may read the paths that a call would write. */
export function mayRead(question: PermissionQuestion): boolean {
  const { access } = question;
  if (access.kind !== "write") return false;
  const read = { ...question, tool: "Read", access: { kind: "read", paths: access.paths } } as const;
  return decidePermission(read).behavior === "allow";
}

const TOO_DEEP_CHANGE = "The call was allowed with a changed input that is nested too deeply.";

/** Returns the rules that “always” creates; an empty list if only this one call can be approved, or if no rule can name it. */
function rulesFor(
  question: PermissionQuestion,
  { guarded, isOutside }: PermissionDecision,
): readonly string[] {
  if (isOutside) return suggestRules({ ...question, tool: UNSANDBOXED_BASH });
  return guarded ? [] : suggestRules(question);
}

export function decideWithHook(
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
