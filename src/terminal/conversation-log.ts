import type { TranscriptLine } from "../agent/conversation/transcript.ts";
import { toolResultsOf, toolUsesOf } from "../agent/model/messages.ts";
import type {
  AssistantMessage,
  ConversationMessage,
  ToolResultBlock,
  ToolUseBlock,
  UserMessage,
} from "../agent/model/model.ts";
import { builtinTools } from "../agent/tools/builtin-tools.ts";
import { readEnvelopes, unescaped } from "../protocol/envelope.ts";
import { parseInWords } from "../schema/zod-helpers.ts";
import { TYPED_MARK } from "../worker/turn/turn-input.ts";
import type { WorkerView } from "../worker/view.ts";

/**
 * Shows a conversation as the agent's own pane showed it.
 * @returns a function that shows the next line of the conversation's file
 */
export function conversationLog(view: WorkerView): (line: TranscriptLine) => void {
  /** Tool calls without a result yet, by id. */
  const called = new Map<string, ToolUseBlock>();
  const tools = builtinTools();

  const showAnswer = (message: AssistantMessage): void => {
    for (const block of message.content)
      if (block.type === "text") view.event({ type: "text", text: block.text });
    view.event({ type: "message", message });
    for (const use of toolUsesOf(message)) {
      called.set(use.id, use);
      const summary = summaryOf(use);
      if (summary !== undefined) showCall(use, summary);
    }
  };
  const showCall = ({ id, name: tool }: ToolUseBlock, summary: string): void =>
    view.event({ type: "tool_started", id, tool, summary });
  /** Undefined for team tools: they end at once, and their result has the summary. */
  const summaryOf = ({ name, input }: ToolUseBlock): string | undefined => {
    const tool = tools.find((candidate) => candidate.name === name);
    const parsed = tool === undefined ? undefined : parseInWords(tool.input, input);
    return tool !== undefined && parsed?.success === true ? tool.summary(parsed.data) : undefined;
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
    if (summaryOf(use) === undefined) showCall(use, shown?.summary || inputText(use));
    const display = shown === undefined ? {} : { display: shown.display };
    view.event({ type: "tool_ended", id, tool: use.name, content, ...display, isError, ms: 0 });
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

  return (line) => {
    if (line.type === "compacted") {
      view.note("The conversation was compacted here: the model continues with a summary of the text above.");
    } else if (line.type === "user" || line.type === "assistant") {
      const message = line.message as unknown as ConversationMessage;
      if (message.role === "user") showInput(message);
      else showAnswer(message);
    }
  };
}

const NOTICE = /<task_notification>\n[\s\S]*?<summary>([\s\S]*?)<\/summary>\n<\/task_notification>/g;

/** Returns the texts between messages; the notification about a background task becomes the line that its pane showed. */
function notesIn(text: string): string[] {
  const readable = text.replace(
    NOTICE,
    (_, summary: string) => `ended in the background: ${unescaped(summary)}`,
  );
  return readable.split("\n\n").filter((part) => part.trim() !== "");
}
