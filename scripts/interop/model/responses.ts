import {
  type Dialect,
  type Json,
  namedEvent,
  type OfferedTool,
  type Piece,
  type Reply,
  textOf,
} from "./ask.ts";

const USAGE = {
  input_tokens: 10,
  input_tokens_details: { cached_tokens: 4 },
  output_tokens: 5,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 15,
};

/** The Responses interface of OpenAI. */
export const responses: Dialect = {
  takes: (path) => path.endsWith("/responses"),
  parse: (body) => ({
    model: body.model ?? "",
    streams: body.stream === true,
    tools: (body.tools ?? []).flatMap(toolsOf),
    pieces: (body.input ?? []).flatMap(piecesOf),
  }),
  events: (reply, id) =>
    [
      { type: "response.created", response: { id: `resp_${id}` } },
      { type: "response.output_item.done", item: itemOf(reply, id) },
      { type: "response.completed", response: { id: `resp_${id}`, usage: USAGE } },
    ].map(namedEvent),
  whole: (reply, id) => ({
    id: `resp_${id}`,
    status: "completed",
    output: [itemOf(reply, id)],
    usage: USAGE,
  }),
};

function itemOf(reply: Extract<Reply, { kind: "say" | "call" }>, id: string) {
  if (reply.kind === "say") {
    const content = [{ type: "output_text", text: reply.text }];
    return { type: "message", id: `msg_${id}`, role: "assistant", content };
  }
  const { name, namespace, input } = reply.call;
  const call = { type: "function_call", id: `fc_${id}`, call_id: `call_${id}`, name };
  return { ...call, ...(namespace && { namespace }), arguments: JSON.stringify(input) };
}

function toolsOf(tool: Json): OfferedTool[] {
  if (tool.type === "namespace")
    return tool.tools.map((inner: Json) => ({
      name: inner.name,
      namespace: tool.name,
      schema: inner.parameters,
    }));
  return tool.name === undefined ? [] : [{ name: tool.name, schema: tool.parameters }];
}

function piecesOf(item: Json): Piece[] {
  switch (item.type) {
    case "function_call":
    case "custom_tool_call":
      return [{ kind: "call", id: item.call_id, name: item.name }];
    case "function_call_output":
    case "custom_tool_call_output":
      return [{ kind: "result", id: item.call_id, text: textOf(item.output) }];
    case undefined:
    case "message":
      if (item.role === "user") return [{ kind: "text", text: textOf(item.content) }];
      return item.role === "assistant" ? [{ kind: "said" }] : [];
    default:
      return [];
  }
}
