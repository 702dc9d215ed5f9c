import { type Dialect, dataEvent, type Json, type Piece, type Reply, textOf } from "./ask.ts";

const USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };

/** The chat completions of OpenAI, which many servers speak. */
export const chat: Dialect = {
  takes: (path) => path.endsWith("/chat/completions"),
  parse: (body) => ({
    model: body.model ?? "",
    streams: body.stream === true,
    tools: (body.tools ?? []).map(({ function: tool }: Json) => ({
      name: tool.name,
      schema: tool.parameters,
    })),
    pieces: (body.messages ?? []).flatMap(piecesOf),
  }),
  events: (reply, id) => {
    const message = messageOf(reply, id);
    const delta = { ...message, tool_calls: message.tool_calls?.map((call, index) => ({ index, ...call })) };
    const chunk = (choices: Json[], more = {}) =>
      dataEvent({
        id: `chat-${id}`,
        object: "chat.completion.chunk",
        created: 1,
        model: "fake",
        choices,
        ...more,
      });
    return [
      chunk([{ index: 0, delta, finish_reason: null }]),
      chunk([{ index: 0, delta: {}, finish_reason: reason(reply) }]),
      chunk([], { usage: USAGE }),
      "data: [DONE]\n\n",
    ];
  },
  whole: (reply, id) => ({
    ...{ id: `chat-${id}`, object: "chat.completion", created: 1, model: "fake", usage: USAGE },
    choices: [{ index: 0, message: messageOf(reply, id), finish_reason: reason(reply) }],
  }),
};

const reason = ({ kind }: Reply): string => (kind === "call" ? "tool_calls" : "stop");

function messageOf(reply: Extract<Reply, { kind: "say" | "call" }>, id: string) {
  if (reply.kind === "say") return { role: "assistant", content: reply.text };
  const call = { name: reply.call.name, arguments: JSON.stringify(reply.call.input) };
  return {
    role: "assistant",
    content: null,
    tool_calls: [{ id: `call_${id}`, type: "function", function: call }],
  };
}

function piecesOf(message: Json): Piece[] {
  if (message.role === "user") return [{ kind: "text", text: textOf(message.content) }];
  if (message.role === "tool")
    return [{ kind: "result", id: message.tool_call_id, text: textOf(message.content) }];
  if (message.role !== "assistant") return [];
  const calls: Piece[] = (message.tool_calls ?? []).map((call: Json) => ({
    kind: "call",
    id: call.id,
    name: call.function.name,
  }));
  return calls.length > 0 ? calls : [{ kind: "said" }];
}
