import { MASK, maskText } from "../../os/redact.ts";
import type { PlaybookTurn } from "../../schema/playbook.ts";
import { toolResultsOf, toolUsesOf } from "../model/messages.ts";
import type { ConversationMessage, ModelRequest, ToolUseBlock } from "../model/model.ts";
import { messagesIn } from "./heard-messages.ts";
import { newestRequestId, REQUEST_ID } from "./placeholder-values.ts";
import { fillCommand, PLACEHOLDER } from "./placeholders.ts";

/** Words of a message by which its turn is found again: enough to tell messages apart, and to be read. */
const MAX_WORDS = 12;

type Tool = NonNullable<PlaybookTurn["tools"]>[number];

/** What belongs to one run alone. */
export interface RecordingContext {
  readonly cwd: string;
  readonly team: string;
  /** Values that no recording holds. */
  readonly secrets: readonly string[];
}

/**
 * What has to have come for this turn: the messages that its input held, each by its first line, or the result of a tool.
 * None for the first of a conversation: the goal and the prompt are the replay's own.
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
  // How often somebody is idle or the team changes, and with what that comes, is of one run alone.
  const telling = texts.filter((text) => !RUN_SPECIFIC.test(text));
  const heard = (telling.length > 0 ? telling : texts.slice(-1)).map((text) => messagePattern(text, run));
  return heard.length === 0 ? undefined : { heard };
}

/** As an idle notice begins (protocol/prose.ts), and what is said of a change of the team (worker/roster.ts). */
const RUN_SPECIFIC = /^(?:\S+ is idle\b|\[The team has changed: )/;

/** The first words of a message, where it begins; what is of one run alone may be anything. */
function messagePattern(text: string, run: RecordingContext): string {
  const [line = ""] = maskText(text, run.secrets).split("\n", 1);
  const words = line.split(/\s+/).slice(0, MAX_WORDS);
  return `^${words.map((word) => (isRunSpecific(word, run) ? "\\S+" : escapeRegExp(word))).join("\\s+")}`;
}

/** Ids, numbers, times, paths, and what is called after the team. */
function isRunSpecific(word: string, { cwd, team }: RecordingContext): boolean {
  return /[0-9]/.test(word) || [cwd, team, MASK].some((part) => word.includes(part));
}

/** For a pattern with the flag `u`, which allows no other escapes. */
function escapeRegExp(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}

/** The calls of one answer, with placeholders for what belongs to this run alone. */
export function recordedTools(
  request: ModelRequest,
  uses: readonly ToolUseBlock[],
  run: RecordingContext,
): Tool[] {
  const created = createdTasks(request.messages);
  let tasks = created.calls;
  return uses.map(({ name, input }): Tool => {
    const own = { ...(input as Record<string, unknown>) };
    // A teammate of a replay plays the recording, whatever its model was.
    if (name === "Agent") delete own.model;
    const filled = recordedInput(name, own, { request, run, ids: created.ids });
    if (name !== "TaskCreate") return { name, input: filled };
    tasks += 1;
    return { name, input: filled, as: `task${tasks}` };
  });
}

interface CreatedTasks {
  readonly calls: number;
  /** The placeholder of each task that this conversation has made, by its id. */
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

/** Fields of the task tools that hold the ids of tasks. */
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

/** The command with its placeholders, each one shell word; as it was said where it cannot hold any. */
function recordedCommand(command: string, facts: InputContext): string {
  const text = withPlaceholders(command, facts);
  try {
    fillCommand(text, () => "x");
    return text;
  } catch {
    // Behind a here-document or the like no value can be inserted; a literal one can stand.
    return ANY_PLACEHOLDER.test(command) ? text : command;
  }
}

const ANY_PLACEHOLDER = new RegExp(PLACEHOLDER.source);

function withPlaceholders(text: string, { request, run }: InputContext): string {
  const requestId = newestRequestId(request.messages);
  const { planFile } = request;
  let result = escapePlaceholders(text);
  if (planFile !== undefined) result = result.replaceAll(planFile, "{{plan_file}}");
  // Of a plan, a shutdown or a question, by whose it is: several may have come together.
  result = result.replace(REQUEST_ID, (_, agent: string) => `{{request_id.${agent}}}`);
  if (requestId !== undefined) result = result.replaceAll(requestId, "{{request_id}}");
  // A member of the replay's team, whatever that is called.
  if (result.endsWith(`@${run.team}`)) result = result.slice(0, -run.team.length - 1);
  return result.replaceAll(atBoundary(run.cwd), "{{cwd}}");
}

/** The directory itself and what is in it, and none whose name only begins alike. */
function atBoundary(directory: string): RegExp {
  return new RegExp(`(?<![\\w./-])${escapeRegExp(directory)}(?![\\w.-])`, "gu");
}

/** A text whose own braces stay braces when it is played. */
export function escapePlaceholders(text: string): string {
  return text.replace(PLACEHOLDER, (found) => `{{open}}${found.slice(2)}`);
}
