import { toolResultsOf, toolUsesOf } from "../agent/conversation.ts";
import type {
  AssistantMessage,
  ConversationMessage,
  ToolUseBlock,
  UserMessage,
} from "../agent/model/model.ts";
import { builtinTools } from "../agent/tools/registry.ts";
import type { TranscriptLine } from "../agent/transcript.ts";
import { readEnvelopes } from "../protocol/envelope.ts";
import { parseInWords } from "../schema/json.ts";
import { TYPED_MARK } from "../worker/turn-input.ts";
import type { WorkerView } from "../worker/view.ts";

/**
 * Shows a conversation, line by line of its file, as the agent's own pane showed it.
 * @returns takes the next line
 */
export function conversationLog(view: WorkerView): (line: TranscriptLine) => void {
  /** Names of the tools that were called, by the call's id. */
  const called = new Map<string, string>();
  const tools = builtinTools();

  const answered = (message: AssistantMessage): void => {
    for (const block of message.content)
      if (block.type === "text") view.event({ type: "text", text: block.text });
    view.event({ type: "message", message });
    for (const use of toolUsesOf(message)) {
      called.set(use.id, use.name);
      view.event({ type: "tool_started", id: use.id, tool: use.name, summary: summaryOf(use) });
    }
  };
  const summaryOf = ({ name, input }: ToolUseBlock): string => {
    const tool = tools.find((one) => one.name === name);
    const parsed = tool === undefined ? undefined : parseInWords(tool.input, input);
    return tool !== undefined && parsed?.success === true ? tool.summary(parsed.data) : JSON.stringify(input);
  };
  const heard = (message: UserMessage): void => {
    for (const { toolUseId: id, content, isError } of toolResultsOf(message))
      view.event({ type: "tool_ended", id, tool: called.get(id) ?? "tool", content, isError, ms: 0 });
    for (const block of message.content) {
      if (block.type !== "text") continue;
      for (const part of readEnvelopes(block.text)) {
        if ("from" in part) view.received(part.from, part.body);
        else if (part.text.startsWith(TYPED_MARK)) view.typed(part.text.slice(TYPED_MARK.length));
        else view.note(part.text);
      }
    }
  };

  return (line) => {
    if (line.type === "compacted") {
      view.note(
        "The conversation was compacted here: the model goes on with a summary of what stands above.",
      );
    } else if (line.type === "user" || line.type === "assistant") {
      const message = line.message as unknown as ConversationMessage;
      if (message.role === "user") heard(message);
      else answered(message);
    }
  };
}
