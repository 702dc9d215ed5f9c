import { isDeepStrictEqual } from "node:util";
import { redactValue, secretsOf } from "../../os/redact.ts";
import type { PermissionMode } from "../../schema/permission-modes.ts";
import { revealHidden } from "../../text/terminal-text.ts";
import type { AgentEvent } from "../events.ts";
import type { HookOutcome } from "../hooks/hooks.ts";
import type { ToolUseBlock } from "../model/model.ts";
import { decidePermission, placesOf, withHook } from "../permissions/decide.ts";
import type { PermissionDecision, PermissionQuestion } from "../permissions/question.ts";
import type { PermissionRules } from "../permissions/rules.ts";
import { isWithheld, mayConnect, resolvingOnce } from "../permissions/search-filter.ts";
import type { ShellLine } from "../permissions/shell-line.ts";
import { suggestRules } from "../permissions/suggest-rules.ts";
import type { AnyTool, ToolAccess, ToolContext, ToolResult } from "../tool.ts";

/** A call that waits for somebody's word. */
export interface PermissionAsk {
  readonly tool: string;
  readonly toolUseId: string;
  /** One line for a person. */
  readonly summary: string;
  /** What the subagent does that makes the call, in the words of its own call; the agent itself without it. */
  readonly whose?: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly access: ToolAccess;
  /** Why it asks. */
  readonly reason: string;
  /** Only a person's yes to this very call counts. */
  readonly guarded: boolean;
  /** The rules that an “always” makes; none where no rule can allow it. */
  readonly rules: readonly string[];
  /** What would be decided on the call now, where mode or rules have changed since. */
  again(): PermissionDecision;
}

export interface PermissionAnswer {
  readonly allowed: boolean;
  /** Goes to the model with the result. */
  readonly note?: string;
  /** What the call is to be made with; without it, or the same as was shown, with what it was made with. */
  readonly input?: Readonly<Record<string, unknown>>;
}

/** What an agent may do. Whatever can change while it runs is a function. */
export interface AgentPermissions {
  mode(): PermissionMode;
  readonly rules: PermissionRules | (() => PermissionRules);
  /** The first is where relative patterns of rules start. */
  readonly workingDirs: readonly string[] | (() => readonly string[]);
  /** Directories that may be read besides. */
  readonly readDirs?: readonly string[];
  readonly planFile?: string;
  /** Directories that only a person lets change: the root. */
  readonly protectedDirs?: readonly string[];
  /** Where it keeps notes of its own, with every link resolved. */
  readonly notes?: string;
  /** Whether it only coordinates in delegate mode: a lead. */
  readonly coordinator?: boolean;
  /** Ends when it is answered, or rejects once the signal aborts. */
  ask(request: PermissionAsk, signal: AbortSignal): Promise<PermissionAnswer>;
}

/** A call whose input has been read, and what it is made with. */
export interface PermittedCall {
  readonly tool: AnyTool;
  /** As the tool reads it. */
  readonly input: unknown;
  readonly use: ToolUseBlock;
  readonly context: ToolContext;
}

/** Whose rights a call is held against, and who hears of it. */
export interface CallRights {
  readonly permissions: AgentPermissions;
  readonly signal: AbortSignal;
  readonly emit: (event: AgentEvent) => void;
}

/** Makes a call if it may be made, once somebody has been asked where that is needed. @param ahead what hooks said of it */
export async function permitAndExecute(
  call: PermittedCall,
  run: CallRights,
  ahead: HookOutcome | undefined,
): Promise<ToolResult> {
  const { tool } = call;
  const question = await questionOf(call, run.permissions);
  const first = decideNow(question, ahead);
  const isAsked = first.behavior === "ask";
  const { answer, decision } = isAsked
    ? await askAsItIs(call, { question, decision: first, ahead }, run)
    : { answer: { allowed: first.behavior === "allow" } as PermissionAnswer, decision: first };
  const { allowed, note } = answer;
  // Why it asked is no reason for a yes.
  const reason = note ?? (allowed && isAsked ? undefined : decision.reason);
  run.emit({
    type: "permission_decided",
    tool: tool.name,
    allowed,
    asked: isAsked,
    ...(reason === undefined ? {} : { reason }),
  });
  if (!allowed)
    return refused(tool, note === undefined ? decision.reason : `${decision.reason} Note: ${note}`);
  const result =
    answer.input === undefined
      ? await execute(call, question)
      : await executeChanged(call, answer.input, run.permissions);
  return note === undefined ? result : withNote(result, `Note with the permission: ${note}`);
}

function execute({ tool, input, context }: PermittedCall, question: PermissionQuestion): Promise<ToolResult> {
  const asked = { ...question, resolve: resolvingOnce() };
  return tool.execute(input, {
    ...context,
    isWithheld: (path) => isWithheld(path, asked),
    mayReach: (address) => mayConnect(address, question),
  });
}

/** As whoever allowed the call changed it (interop.md: `updated_input` is what runs). What a rule denies stays denied. */
async function executeChanged(
  call: PermittedCall,
  changed: Readonly<Record<string, unknown>>,
  permissions: AgentPermissions,
): Promise<ToolResult> {
  const { tool } = call;
  const parsed = tool.input.safeParse(changed);
  if (!parsed.success) return refused(tool, "It was allowed with an input that the tool does not take.");
  const other = { ...call, input: parsed.data };
  const question = await questionOf(other, permissions);
  const { behavior, reason } = decidePermission(question);
  if (behavior === "deny") return refused(tool, reason);
  const how = `Whoever allowed it changed the call; it was made with ${JSON.stringify(changed)}`;
  return withNote(await execute(other, question), how);
}

function refused({ name }: AnyTool, why: string): ToolResult {
  return { content: `Permission for ${name} was refused. ${why}`, isError: true };
}

function withNote(result: ToolResult, note: string): ToolResult {
  return { ...result, content: `${result.content}\n\n${note}` };
}

async function questionOf(
  { tool, input, context }: PermittedCall,
  permissions: AgentPermissions,
): Promise<PermissionQuestion> {
  const access = tool.access(input, context);
  return {
    ...rightsOf(permissions),
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
  };
}

interface Undecided {
  readonly question: PermissionQuestion;
  readonly decision: PermissionDecision;
  readonly ahead: HookOutcome | undefined;
}

/** Times that one call asks whose files lead elsewhere after each yes: that is somebody's doing. */
const MAX_ASKS = 3;

/**
 * Asks, and holds a yes against how things are when it comes: what is denied by then is refused, and what leads to other files, or
 * has become a person's alone to allow, is asked again as it is now.
 * @returns the decision that the answer is to
 */
async function askAsItIs(
  call: PermittedCall,
  { question, decision, ahead }: Undecided,
  run: CallRights,
): Promise<{ readonly answer: PermissionAnswer; readonly decision: PermissionDecision }> {
  let shown = decision;
  for (let asks = 0; asks < MAX_ASKS; asks += 1) {
    const places = placesOf(question);
    const answer = await askSomebody(call, { question, decision: shown, ahead }, run);
    if (!answer.allowed) return { answer, decision: shown };
    const now = decideNow({ ...question, ...rightsOf(run.permissions) }, ahead);
    if (now.behavior === "deny") return { answer: { allowed: false }, decision: now };
    const isSame = isDeepStrictEqual(placesOf(question), places) && (shown.guarded || !now.guarded);
    if (now.behavior === "allow" || isSame) return { answer, decision: shown };
    shown = now;
  }
  const reason = `It led somewhere else each time after it had been allowed. ${shown.reason}`;
  return { answer: { allowed: false }, decision: { ...shown, reason } };
}

async function askSomebody(
  { tool, input, use, context }: PermittedCall,
  { question, decision, ahead }: Undecided,
  { permissions, signal, emit }: CallRights,
): Promise<PermissionAnswer> {
  const summary = revealHidden(tool.summary(input));
  emit({ type: "permission_asked", tool: tool.name, summary });
  // It is shown, sent and written down; the call itself runs with what it was made with.
  const request = redactValue(
    {
      tool: tool.name,
      toolUseId: use.id,
      summary,
      input: use.input as Readonly<Record<string, unknown>>,
      access: question.access,
      reason: decision.reason,
      guarded: decision.guarded === true,
      rules: decision.guarded ? [] : suggestRules(question),
    },
    secretsOf(context.env),
  );
  const again = (): PermissionDecision => decideNow({ ...question, ...rightsOf(permissions) }, ahead);
  const answer = await permissions.ask({ ...request, again }, signal);
  signal.throwIfAborted();
  const { input: made, ...rest } = answer;
  // As it was shown it holds no secret: the same again means the call itself.
  return made === undefined || isDeepStrictEqual(made, request.input) ? rest : answer;
}

function decideNow(question: PermissionQuestion, ahead: HookOutcome | undefined): PermissionDecision {
  return withHook(decidePermission(question), ahead?.permission, question.mode);
}

/** What can change while a call waits. */
function rightsOf({
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

/** The grammar of bash is loaded at the first command. */
async function readLine(command: string): Promise<ShellLine> {
  const { readShellLine } = await import("../permissions/shell-line.ts");
  return readShellLine(command);
}
