import type { Anthropic } from "@anthropic-ai/sdk";
import { wellFormed } from "../../text/characters/well-formed.ts";
import type { AssistantBlock, ConversationMessage, ModelRequest, ToolSpec, UserBlock } from "./model.ts";

type Params = Anthropic.MessageCreateParamsStreaming;
type WireMessage = Anthropic.MessageParam;
type WireBlock = Anthropic.ContentBlockParam;

const CACHED = { cache_control: { type: "ephemeral" } } as const;
/** Newest user messages that get a cache marker. A server accepts four markers; the tools and the system prompt have one each. */
const CACHED_MESSAGES = 2;

/** Converts a request to the Messages API, with markers for the prompt cache. The result is well-formed Unicode: servers refuse lone surrogates. */
export function wireRequest(request: ModelRequest, model: string, maxTokens: number): Params {
  return wellFormed({
    model,
    max_tokens: maxTokens,
    stream: true,
    ...(request.system === "" ? {} : { system: [{ type: "text", text: request.system, ...CACHED }] }),
    ...(request.tools.length === 0 ? {} : { tools: wireTools(request.tools), ...toolChoice(request) }),
    messages: markCache(wireMessages(request.messages)),
  });
}

/** Returns the field only if it is needed, since some servers do not know it. */
function toolChoice({ toolless }: ModelRequest): Pick<Params, "tool_choice"> {
  return toolless ? { tool_choice: { type: "none" } } : {};
}

function wireTools(tools: readonly ToolSpec[]): Anthropic.ToolUnion[] {
  return tools.map(({ name, description, inputSchema }, i) => ({
    name,
    description,
    input_schema: inputSchema as Anthropic.Tool.InputSchema,
    ...(i === tools.length - 1 ? CACHED : {}),
  }));
}

/** Merges neighbouring messages of one role, with tool results first, as the API requires; leaves out empty messages. */
function wireMessages(messages: readonly ConversationMessage[]): WireMessage[] {
  const wired: { role: "user" | "assistant"; content: WireBlock[] }[] = [];
  for (const message of messages) {
    const content =
      message.role === "user"
        ? message.content.flatMap(wireUserBlock)
        : message.content.flatMap(wireAssistantBlock);
    if (content.length === 0) continue;
    const last = wired.at(-1);
    if (last?.role === message.role) last.content.push(...content);
    else wired.push({ role: message.role, content });
  }
  for (const { role, content } of wired) {
    if (role === "user") content.sort((a, b) => rank(a) - rank(b));
  }
  return wired;
}

function rank(block: WireBlock): number {
  return block.type === "tool_result" ? 0 : 1;
}

/** Leaves out empty text, which the API refuses. */
function wireText(text: string): WireBlock[] {
  return text.trim() === "" ? [] : [{ type: "text", text }];
}

function wireUserBlock(block: UserBlock): WireBlock[] {
  if (block.type === "text") return wireText(block.text);
  return [
    {
      type: "tool_result",
      tool_use_id: block.toolUseId,
      content: block.content === "" ? "(empty)" : block.content,
      ...(block.isError ? { is_error: true } : {}),
    },
  ];
}

function wireAssistantBlock(block: AssistantBlock): WireBlock[] {
  switch (block.type) {
    case "text":
      return wireText(block.text);
    case "tool_use":
      return [{ type: "tool_use", id: block.id, name: block.name, input: block.input }];
    case "opaque":
      return [block.value as WireBlock];
  }
}

/** Marks the end of the newest user messages, so that the next call reads everything before them from the cache. */
function markCache(messages: WireMessage[]): WireMessage[] {
  let left = CACHED_MESSAGES;
  for (const message of [...messages].reverse()) {
    if (message.role !== "user" || typeof message.content === "string" || left === 0) continue;
    const block = message.content.at(-1);
    if (block?.type === "text" || block?.type === "tool_result") block.cache_control = CACHED.cache_control;
    left -= 1;
  }
  return messages;
}
