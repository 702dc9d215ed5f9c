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
 * Shows a conversation, line by line of its file, as the agent's own pane showed it.
 * @returns takes the next line
 */
export function conversationLog(view: WorkerView): (line: TranscriptLine) => void {
  /** The calls, by their ids, until they are shown. */
  const called = new Map<string, ToolUseBlock>();
  const tools = builtinTools();

  const answered = (message: AssistantMessage): void => {
    for (const block of message.content)
      if (block.type === "text") view.event({ type: "text", text: block.text });
    view.event({ type: "message", message });
    for (const use of toolUsesOf(message)) {
      called.set(use.id, use);
      const summary = summaryOf(use);
      if (summary !== undefined) begun(use, summary);
    }
  };
  const begun = ({ id, name: tool }: ToolUseBlock, summary: string): void =>
    view.event({ type: "tool_started", id, tool, summary });
  /** Undefined where the result says it: of the tools of a team, which end at once. */
  const summaryOf = ({ name, input }: ToolUseBlock): string | undefined => {
    const tool = tools.find((one) => one.name === name);
    const parsed = tool === undefined ? undefined : parseInWords(tool.input, input);
    return tool !== undefined && parsed?.success === true ? tool.summary(parsed.data) : undefined;
  };
  const inputText = ({ input }: ToolUseBlock): string => {
    const text = JSON.stringify(input);
    return text === "{}" ? "" : text;
  };
  const ended = ({ toolUseId: id, content, isError, shown }: ToolResultBlock): void => {
    const use = called.get(id);
    called.delete(id);
    if (use !== undefined && summaryOf(use) === undefined) begun(use, shown?.summary || inputText(use));
    const display = shown === undefined ? {} : { display: shown.display };
    view.event({ type: "tool_ended", id, tool: use?.name ?? "tool", content, ...display, isError, ms: 0 });
  };
  const heard = (message: UserMessage): void => {
    for (const result of toolResultsOf(message)) ended(result);
    for (const block of message.content) if (block.type === "text") spoken(block.text);
  };
  const spoken = (text: string): void => {
    for (const part of readEnvelopes(text)) {
      if ("from" in part) view.received(part.from, part.body);
      else if (part.text.startsWith(TYPED_MARK)) view.typed(part.text.slice(TYPED_MARK.length));
      else for (const words of withoutTags(part.text)) view.note(words);
    }
  };

  return (line) => {
    if (line.type === "compacted") {
      view.note("The conversation was compacted here: the model continues with a summary of what is above.");
    } else if (line.type === "user" || line.type === "assistant") {
      const message = line.message as unknown as ConversationMessage;
      if (message.role === "user") heard(message);
      else answered(message);
    }
  };
}

const NOTICE = /<task_notification>\n[\s\S]*?<summary>([\s\S]*?)<\/summary>\n<\/task_notification>/g;

/** What stands between messages, of the end of something in the background what its pane said. */
function withoutTags(text: string): string[] {
  const said = text.replace(NOTICE, (_, summary: string) => `ended in the background: ${unescaped(summary)}`);
  return said.split("\n\n").filter((part) => part.trim() !== "");
}
