import { REDACTED, redactText } from "../../os/redact.ts";
import type { PlaybookTurn } from "../../schema/playbook.ts";
import { toolResultsOf, toolUsesOf } from "../model/messages.ts";
import type { ConversationMessage, ModelRequest, ToolUseBlock } from "../model/model.ts";
import { messagesIn } from "./heard-messages.ts";
import { newestRequestId, REQUEST_ID } from "./placeholder-values.ts";
import { fillCommand, PLACEHOLDER } from "./placeholders.ts";

/** Words of a message in its pattern: enough to tell messages apart, and short enough to read. */
const MAX_WORDS = 12;

type Tool = NonNullable<PlaybookTurn["tools"]>[number];

/** The facts of the recorded run that a replay must not contain. */
export interface RecordingContext {
  readonly cwd: string;
  readonly team: string;
  /** Values to redact. */
  readonly secrets: readonly string[];
}

/**
 * Returns the condition of a recorded turn: the first line of each message in its input, or the tool whose result it
 * followed. The first turn of a conversation has none: a replay has its own goal and prompt.
 */
export function recordedCondition({ messages }: ModelRequest, run: RecordingContext): PlaybookTurn["on"] {
  const newest = messages.at(-1);
  const call = messages.findLast(({ role }) => role === "assistant");
  if (newest?.role !== "user" || call?.role !== "assistant") return undefined;
  if (newest.origin === undefined) {
    const tool = toolUsesOf(call)[0]?.name;
    return tool === undefined ? undefined : { tool };
  }
  const texts = messagesIn(newest);
  // Idle notices and team changes arrive at other times in a replay, so they are matched only if nothing else arrived.
  const ordinary = texts.filter((text) => !RUN_SPECIFIC.test(text));
  const heard = (ordinary.length > 0 ? ordinary : texts.slice(-1)).map((text) => messagePattern(text, run));
  return heard.length === 0 ? undefined : { heard };
}

/** The beginning of an idle notice (protocol/render.ts) and of a notice that the team has changed (worker/prompts/roster.ts). */
const RUN_SPECIFIC = /^(?:\S+ is idle\b|\[The team has changed: )/;

/** Returns a pattern for the first words of a message; words of this run alone may be any text. */
function messagePattern(text: string, run: RecordingContext): string {
  const [line = ""] = redactText(text, run.secrets).split("\n", 1);
  const words = line.split(/\s+/).slice(0, MAX_WORDS);
  return `^${words.map((word) => (isRunSpecific(word, run) ? "\\S+" : escapeRegExp(word))).join("\\s+")}`;
}

/** Matches ids, numbers, times, paths, redacted values and names that contain the team's. */
function isRunSpecific(word: string, { cwd, team }: RecordingContext): boolean {
  return /[0-9]/.test(word) || [cwd, team, REDACTED].some((part) => word.includes(part));
}

/** Escapes only the characters that the flag `u` allows. */
function escapeRegExp(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}

/** Returns the tool calls of one message, with placeholders for everything specific to this run. */
export function recordedTools(
  request: ModelRequest,
  uses: readonly ToolUseBlock[],
  run: RecordingContext,
): Tool[] {
  const created = createdTasks(request.messages);
  let tasks = created.calls;
  return uses.map(({ name, input }): Tool => {
    const own = { ...(input as Record<string, unknown>) };
    // A replayed teammate plays the recording instead of its model.
    if (name === "Agent") delete own.model;
    const filled = recordedInput(name, own, { request, run, ids: created.ids });
    if (name !== "TaskCreate") return { name, input: filled };
    tasks += 1;
    return { name, input: filled, as: `task${tasks}` };
  });
}

interface CreatedTasks {
  readonly calls: number;
  /** The placeholder of each task that this conversation created, by task id. */
  readonly ids: ReadonlyMap<string, string>;
}

function createdTasks(messages: readonly ConversationMessage[]): CreatedTasks {
  let calls = 0;
  const ids = new Map<string, string>();
  for (const [at, message] of messages.entries()) {
    if (message.role !== "assistant") continue;
    const answer = messages[at + 1];
    const results = answer?.role === "user" ? toolResultsOf(answer) : [];
    for (const use of toolUsesOf(message)) {
      if (use.name !== "TaskCreate") continue;
      calls += 1;
      const data = results.find(({ toolUseId }) => toolUseId === use.id)?.data;
      const id = (data as { task?: { id?: unknown } } | undefined)?.task?.id;
      if (typeof id === "string") ids.set(id, `{{task${calls}.task.id}}`);
    }
  }
  return { calls, ids };
}

interface InputContext {
  readonly request: ModelRequest;
  readonly run: RecordingContext;
  readonly ids: ReadonlyMap<string, string>;
}

/** Fields of the task tools that contain task ids. */
const TASK_IDS = new Set(["taskId", "addBlocks", "addBlockedBy"]);

function recordedInput(
  tool: string,
  input: Readonly<Record<string, unknown>>,
  facts: InputContext,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(input).map(([key, value]) => {
      if (tool === "Bash" && key === "command" && typeof value === "string") {
        return [key, recordedCommand(value, facts)];
      }
      const ids = TASK_IDS.has(key) ? facts.ids : new Map<string, string>();
      return [key, recordedValue(value, facts, ids)];
    }),
  );
}

function recordedValue(value: unknown, facts: InputContext, ids: ReadonlyMap<string, string>): unknown {
  if (typeof value === "string") return ids.get(value) ?? withPlaceholders(value, facts);
  if (Array.isArray(value)) return value.map((item) => recordedValue(item, facts, ids));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, recordedValue(item, facts, ids)]),
  );
}

/** Returns the command with placeholders, or unchanged if values cannot be inserted in it. */
function recordedCommand(command: string, facts: InputContext): string {
  const text = withPlaceholders(command, facts);
  try {
    fillCommand(text, () => "x");
    return text;
  } catch {
    // For example after a here-document. The literal value can stay, but braces of the command must be escaped.
    return ANY_PLACEHOLDER.test(command) ? text : command;
  }
}

const ANY_PLACEHOLDER = new RegExp(PLACEHOLDER.source);

function withPlaceholders(text: string, { request, run }: InputContext): string {
  const requestId = newestRequestId(request.messages);
  const { planFile } = request;
  let result = escapePlaceholders(text);
  if (planFile !== undefined) result = result.replaceAll(planFile, "{{plan_file}}");
  // The placeholder of a plan, shutdown or question names its agent: several requests may have arrived together.
  result = result.replace(REQUEST_ID, (_, agent: string) => `{{request_id.${agent}}}`);
  if (requestId !== undefined) result = result.replaceAll(requestId, "{{request_id}}");
  // Without the team's name: the team of a replay has another name.
  if (result.endsWith(`@${run.team}`)) result = result.slice(0, -run.team.length - 1);
  return result.replaceAll(atBoundary(run.cwd), "{{cwd}}");
}

/** Matches the directory and paths in it, but not a directory with a longer name. */
function atBoundary(directory: string): RegExp {
  return new RegExp(`(?<![\\w./-])${escapeRegExp(directory)}(?![\\w.-])`, "gu");
}

/** Escapes the braces of a text so that a replay keeps them. */
export function escapePlaceholders(text: string): string {
  return text.replace(PLACEHOLDER, (found) => `{{open}}${found.slice(2)}`);
}
