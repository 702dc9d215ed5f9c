import { messageOf, TeamError } from "../../errors.ts";
import { pause, steadyNow } from "../../os/clock.ts";
import { MAX_NESTING } from "../../schema/guards/nesting.ts";
import { cutText } from "../../text/characters/cut-text.ts";
import type { Hooks } from "../hooks/hooks.ts";
import { errorResult } from "../model/messages.ts";
import type { ToolResultBlock, ToolUseBlock } from "../model/model.ts";
import { inputProblem } from "../model/unusable-input.ts";
import type { AnyTool, ToolContext, ToolResult } from "../tool.ts";
import { ignoredNotes, parseCallInput } from "../tools/tool-specs.ts";
import type { CallRights } from "./permission.ts";
import { type PermittedCall, permitAndExecute } from "./permitted-call.ts";

interface ToolRunOptions extends CallRights {
  /** Whether the answer with the calls reached its maximum length. */
  readonly isTruncated: boolean;
  readonly tools: readonly AnyTool[];
  /** Selects the tools that the model was offered. */
  readonly isOffered: (tool: AnyTool) => boolean;
  /** Hooks before and after each call. */
  readonly hooks?: Hooks | undefined;
  readonly context: ToolContext;
  readonly betweenTools: () => Promise<"go" | "stop">;
}

export interface ToolCallResults {
  /** One for each call, in the same order. */
  readonly results: readonly ToolResultBlock[];
  /** Number of started calls. */
  readonly calls: number;
  readonly stopped: boolean;
  readonly endedBy?: string;
}

/** Maximum characters of a result for the model. A longer result is truncated with a note. */
const MAX_TOOL_RESULT = 100_000;
/** Maximum characters of a note with a result. */
const MAX_NOTE = 20_000;

const NOT_RUN = "Not run: the turn was interrupted before this call.";
const INTERRUPTED_CALL = "Interrupted before it finished.";
const ABANDONED = "Interrupted, but the call did not stop in time; it may have taken effect.";
const TRUNCATED_INPUT =
  "Your answer reached its maximum length and cut off this call, so the call was not made. Make it again with a shorter input, or in several parts.";
const BROKEN_INPUT =
  "The input of the call was not a complete JSON object, so the call was not made. Make it again.";
const TOO_DEEP_INPUT = `The input of the call had more than ${MAX_NESTING} levels of objects and lists, so the call was not made. Make it again with a flatter input.`;
/** Maximum number of parallel calls, and so of teammates that start at the same time. */
const MAX_PARALLEL = 16;
/** Milliseconds that a tool has to end after an interrupt; built-in tools need at most half a second. */
const ABORT_GRACE_MS = 2_000;

/**
 * Runs the calls of one message: adjacent parallel calls together, the others one after another. Every call gets a result in any
 * case, because a conversation without it is invalid.
 */
export async function runTools(uses: readonly ToolUseBlock[], run: ToolRunOptions): Promise<ToolCallResults> {
  const results: ToolResultBlock[] = [];
  let stopped = false;
  let calls = 0;
  let endedBy: string | undefined;
  for (const group of parallelGroups(uses, run.tools)) {
    if (results.length > 0 && !run.signal.aborted) stopped ||= (await run.betweenTools()) === "stop";
    if (stopped || run.signal.aborted || endedBy !== undefined) {
      const why = endedBy === undefined ? NOT_RUN : `Not run: ${endedBy} ended the turn before this call.`;
      results.push(...group.map((use) => errorResult(use.id, why)));
      continue;
    }
    calls += group.length;
    for (const { block, endedBy: ender } of await inParallel(group, (use) =>
      runOne(use, withOwnSignal(run)),
    )) {
      results.push(block);
      endedBy ??= ender;
    }
  }
  if (!stopped && endedBy === undefined && !run.signal.aborted)
    stopped = (await run.betweenTools()) === "stop";
  return { results, calls, stopped, ...(endedBy === undefined ? {} : { endedBy }) };
}

/** Gives a call a separate signal: Node reports a leak if many parallel calls listen to one signal. */
function withOwnSignal(run: ToolRunOptions): ToolRunOptions {
  const signal = AbortSignal.any([run.signal]);
  return { ...run, signal, context: { ...run.context, signal } };
}

/** Runs at most {@link MAX_PARALLEL} items at the same time. Results keep the order of the items. */
async function inParallel<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const waiting = items.entries();
  const lane = async (): Promise<void> => {
    for (const [i, item] of waiting) results[i] = await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(items.length, MAX_PARALLEL) }, lane));
  return results;
}

function parallelGroups(uses: readonly ToolUseBlock[], tools: readonly AnyTool[]): ToolUseBlock[][] {
  const grouped: ToolUseBlock[][] = [];
  let open = false;
  for (const use of uses) {
    const { parallel: rule } = toolOf(use, tools) ?? {};
    const parallel = typeof rule === "function" ? rule(use.input) : rule === true;
    if (parallel && open) grouped.at(-1)?.push(use);
    else grouped.push([use]);
    open = parallel;
  }
  return grouped;
}

function toolOf({ name }: ToolUseBlock, tools: readonly AnyTool[]): AnyTool | undefined {
  return tools.find((tool) => tool.name === name) ?? tools.find((tool) => tool.alias === name);
}

interface CallResult {
  readonly block: ToolResultBlock;
  readonly endedBy?: string;
}

async function runOne(use: ToolUseBlock, run: ToolRunOptions): Promise<CallResult> {
  const tool = toolOf(use, run.tools);
  if (tool === undefined) {
    const names = run.tools
      .filter(run.isOffered)
      .map((candidate) => candidate.name)
      .join(", ");
    return refuseCall(use, run, `There is no tool ${use.name} here. Available tools: ${names}.`);
  }
  // Checked before the schema, because some tools accept any object.
  const unusable = inputProblem(use.input);
  if (unusable === "too deep") return refuseCall(use, run, TOO_DEEP_INPUT);
  if (unusable !== undefined) return refuseCall(use, run, run.isTruncated ? TRUNCATED_INPUT : BROKEN_INPUT);
  const ignored = ignoredNotes(tool, use.input);
  const parsed = parseCallInput(tool, use.input);
  if ("problem" in parsed) return refuseCall(use, run, [parsed.problem, ...ignored].join("\n\n"));
  const startedAt = steadyNow();
  const onOutput = (tail: string): void => run.emit({ type: "tool_output", id: use.id, tail });
  const context = { ...run.context, onOutput };
  let result: ToolResult;
  const { input } = parsed;
  const summary = tool.summary(input);
  const path = tool.summaryPath?.(input);
  run.emit({
    type: "tool_started",
    id: use.id,
    tool: tool.name,
    summary,
    ...(path === undefined ? {} : { path }),
  });
  try {
    const work = callWithHooks({ tool, input, use, context }, run);
    result = await abandonAfterInterrupt(work, run.signal);
  } catch (error) {
    result = { content: run.signal.aborted ? INTERRUPTED_CALL : failureText(error), isError: true };
  }
  const block = blockOf(use, { ...result, notes: [...(result.notes ?? []), ...ignored] }, summary);
  run.emit({
    type: "tool_ended",
    id: use.id,
    tool: tool.name,
    content: block.content,
    ...(result.display === undefined ? {} : { display: result.display }),
    ...(result.change === undefined ? {} : { change: result.change }),
    isError: block.isError,
    ms: Math.round(steadyNow() - startedAt),
  });
  return { block, ...(result.endTurn === true ? { endedBy: tool.name } : {}) };
}

/** Waits for a tool, but abandons it if it does not react to an interrupt: the turn ends although the tool may still run. */
async function abandonAfterInterrupt(work: Promise<ToolResult>, signal: AbortSignal): Promise<ToolResult> {
  const ended = new AbortController();
  try {
    return await Promise.race([work, abandoned(signal, ended.signal)]);
  } finally {
    ended.abort();
  }
}

async function abandoned(signal: AbortSignal, ended: AbortSignal): Promise<ToolResult> {
  await pause(Number.POSITIVE_INFINITY, AbortSignal.any([signal, ended]));
  await pause(ABORT_GRACE_MS, ended);
  return { content: ABANDONED, isError: true };
}

/** Reports a call that cannot start as a failed call. */
function refuseCall(use: ToolUseBlock, run: ToolRunOptions, content: string): CallResult {
  run.emit({ type: "tool_started", id: use.id, tool: use.name, summary: "" });
  run.emit({ type: "tool_ended", id: use.id, tool: use.name, content, isError: true, ms: 0 });
  return { block: errorResult(use.id, content) };
}

/**
 * Runs a call with the hooks of its tool. Hooks before the call can change or stop it. Hooks after the call can add text for the
 * model, or end the turn.
 */
async function callWithHooks(call: PermittedCall, run: ToolRunOptions): Promise<ToolResult> {
  const { hooks, signal } = run;
  const { name, alias } = call.tool;
  const names = alias === undefined ? [name] : [name, alias];
  const about = { tool_name: name, tool_input: call.use.input, tool_use_id: call.use.id };
  const before = await hooks?.run("PreToolUse", about, signal, ...names);
  signal.throwIfAborted();
  if (before?.stopped !== undefined) {
    const content = `A hook refused ${name}: ${before.stopped}`;
    return { content, isError: true, endTurn: before.endsAgent === true };
  }
  const made = before?.input === undefined ? call : withChangedInput(call, before.input);
  if (made === undefined)
    return {
      content: `A hook changed the input of ${name} to an input that ${name} does not accept, so the call was not made.`,
      isError: true,
    };
  const result = await permitAndExecute(made, run, before);
  const { notes = [] } = result;
  const response = { content: [result.content, ...notes].join("\n\n"), is_error: result.isError === true };
  const aboutResult = { ...about, tool_input: made.use.input, tool_response: response };
  const after = await hooks?.run("PostToolUse", aboutResult, signal, ...names);
  const changed =
    made === call ? [] : [`A hook changed the call; it ran with ${JSON.stringify(made.use.input)}`];
  const hookText = after?.stopped === undefined ? [] : [`A hook says: ${after.stopped}`];
  const endTurn = after?.endsAgent === true || result.endTurn === true;
  return { ...result, notes: [...notes, ...changed, ...hookText], endTurn };
}

function withChangedInput(
  call: PermittedCall,
  input: Readonly<Record<string, unknown>>,
): PermittedCall | undefined {
  const parsed = call.tool.input.safeParse(input);
  return parsed.success ? { ...call, input: parsed.data, use: { ...call.use, input } } : undefined;
}

function blockOf(use: ToolUseBlock, result: ToolResult, summary: string): ToolResultBlock {
  const { data, display, change } = result;
  const text = cutText(result.content, MAX_TOOL_RESULT, cutNote);
  const notes = (result.notes ?? []).map((note) => cutText(note, MAX_NOTE, cutNote));
  const content = [text, ...notes].join("\n\n");
  return {
    type: "tool_result",
    toolUseId: use.id,
    content,
    isError: result.isError === true,
    ...(data === undefined ? {} : { data }),
    ...(display === undefined
      ? {}
      : { shown: { summary, display, ...(change === undefined ? {} : { change }) } }),
  };
}

function cutNote(missing: string): string {
  return `\n… (${missing} were cut off)`;
}

function failureText(error: unknown): string {
  if (!(error instanceof TeamError)) return messageOf(error);
  return [`${error.code}: ${error.message}`, ...(error.hint === undefined ? [] : [error.hint])].join("\n");
}
