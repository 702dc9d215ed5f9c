import type { TranscriptLine } from "../agent/conversation/transcript.ts";
import type { AgentEvent } from "../agent/events.ts";
import { toolResultsOf, toolUsesOf } from "../agent/model/messages.ts";
import type {
  AssistantMessage,
  ConversationMessage,
  ToolResultBlock,
  ToolUseBlock,
  UserMessage,
} from "../agent/model/model.ts";
import { thoughtIn } from "../agent/model/wire-response.ts";
import { builtinTools } from "../agent/tools/builtin-tools.ts";
import { readEnvelopes, unescaped } from "../protocol/envelope.ts";
import { parseWithMessages } from "../schema/zod-helpers.ts";
import { savedChange } from "../team/requests/saved-change.ts";
import { TYPED_MARK } from "../worker/turn/turn-input.ts";
import type { WorkerView } from "../worker/view.ts";

/**
 * Shows a conversation as the agent's own pane showed it.
 * @returns a function that shows the next lines of the conversation's file
 */
export function conversationLog(view: WorkerView): (lines: readonly TranscriptLine[]) => void {
  /** Tool calls without a result yet, by id. */
  const called = new Map<string, ToolUseBlock>();
  /** Calls of `called` that are shown already, without their result. */
  const started = new Set<string>();
  /** Calls whose results are among the current lines: they are shown with the result, not before it. */
  let ended: ReadonlySet<string> = new Set();
  const tools = builtinTools();

  const showAnswer = (message: AssistantMessage): void => {
    for (const block of message.content) {
      const thought = block.type === "opaque" ? thoughtIn(block.value) : undefined;
      if (thought !== undefined) view.event({ type: "thinking", text: thought });
      if (block.type === "text") view.event({ type: "text", text: block.text });
    }
    view.event({ type: "message", message });
    for (const use of toolUsesOf(message)) {
      called.set(use.id, use);
      const summary = ended.has(use.id) ? undefined : summaryOf(use);
      if (summary === undefined) continue;
      showCall(use, summary);
      started.add(use.id);
    }
  };
  const showCall = ({ id, name: tool }: ToolUseBlock, summary: CallSummary): void =>
    view.event({ type: "tool_started", id, tool, ...summary });
  /** Undefined for team tools: they end at once, and their result has the summary. */
  const summaryOf = ({ name, input }: ToolUseBlock): CallSummary | undefined => {
    const tool = tools.find((candidate) => candidate.name === name);
    const parsed = tool === undefined ? undefined : parseWithMessages(tool.input, input);
    if (tool === undefined || parsed?.success !== true) return undefined;
    const path = tool.summaryPath?.(parsed.data);
    return { summary: tool.summary(parsed.data), ...(path === undefined ? {} : { path }) };
  };
  const inputText = ({ input }: ToolUseBlock): string => {
    const text = JSON.stringify(input);
    return text === "{}" ? "" : text;
  };
  const showResult = ({ toolUseId: id, content, isError, shown }: ToolResultBlock): void => {
    const use = called.get(id);
    // The call is on an older page.
    if (use === undefined) return;
    called.delete(id);
    if (!started.delete(id)) showCall(use, summaryOf(use) ?? { summary: shown?.summary || inputText(use) });
    const { display } = shown ?? {};
    const change = savedChange(shown?.change, false);
    const seen = {
      ...(display === undefined ? {} : { display }),
      ...(change === undefined ? {} : { change }),
    };
    view.event({ type: "tool_ended", id, tool: use.name, content, ...seen, isError, ms: 0 });
  };
  const showInput = (message: UserMessage): void => {
    for (const result of toolResultsOf(message)) showResult(result);
    for (const block of message.content) if (block.type === "text") showText(block.text);
  };
  const showText = (text: string): void => {
    for (const part of readEnvelopes(text)) {
      if ("from" in part) view.received(part.from, part.body);
      else if (part.text.startsWith(TYPED_MARK)) view.typed(part.text.slice(TYPED_MARK.length));
      else for (const note of notesIn(part.text)) view.note(note);
    }
  };

  return (lines) => {
    ended = new Set(lines.map(messageOf).flatMap(resultIds));
    for (const line of lines) {
      const message = messageOf(line);
      if (line.type === "compacted") view.note(line.cleared ? CLEARED : COMPACTED);
      else if (message?.role === "user") showInput(message);
      else if (message !== undefined) showAnswer(message);
    }
  };
}

function messageOf(line: TranscriptLine): ConversationMessage | undefined {
  return line.type === "user" || line.type === "assistant"
    ? (line.message as unknown as ConversationMessage)
    : undefined;
}

function resultIds(message: ConversationMessage | undefined): string[] {
  return message?.role === "user" ? toolResultsOf(message).map(({ toolUseId }) => toolUseId) : [];
}

const COMPACTED =
  "The conversation was compacted here: the model continues with a summary of the text above.";
const CLEARED = "The conversation was cleared here: the model no longer knows the text above.";

type CallSummary = Pick<Extract<AgentEvent, { type: "tool_started" }>, "summary" | "path">;

const NOTICE = { start: "<task_notification>\n", text: "<summary>", end: "</summary>\n</task_notification>" };

/** Returns the texts between messages; the notification about a background task becomes the line that its pane showed. */
function notesIn(text: string): string[] {
  let readable = "";
  let done = 0;
  for (let at = text.indexOf(NOTICE.start); at >= 0; at = text.indexOf(NOTICE.start, done)) {
    const mark = text.indexOf(NOTICE.text, at);
    const end = mark < 0 ? -1 : text.indexOf(NOTICE.end, mark);
    if (end < 0) break;
    const summary = unescaped(text.slice(mark + NOTICE.text.length, end));
    readable += `${text.slice(done, at)}ended in the background: ${summary}`;
    done = end + NOTICE.end.length;
  }
  readable += text.slice(done);
  return readable.split("\n\n").filter((part) => part.trim() !== "");
}
