import { messageEvents } from "../../../test/support/model/fake-messages-api.ts";
import { type Dialect, type Json, namedEvent, type Piece, type Reply, textOf } from "./ask.ts";

/** The Messages API of Anthropic. claude 2.1.34 treats answers with the same id as parts of one answer. */
export const anthropic: Dialect = {
  takes: (path) => path.startsWith("/v1/messages"),
  parse: (body) => ({
    model: body.model ?? "",
    streams: body.stream === true,
    tools: (body.tools ?? []).map((tool: Json) => ({ name: tool.name, schema: tool.input_schema })),
    pieces: (body.messages ?? []).flatMap(piecesOf),
  }),
  events: (reply, id) => messageEvents({ id: `msg_${id}`, blocks: [blockOf(reply, id)] }).map(namedEvent),
  whole: (reply, id) => ({
    ...{ id: `msg_${id}`, type: "message", role: "assistant", model: "fake", content: [blockOf(reply, id)] },
    ...{ stop_reason: reply.kind === "call" ? "tool_use" : "end_turn", stop_sequence: null },
    usage: { input_tokens: 10, output_tokens: 5 },
    // The answer to a request that counts tokens.
    input_tokens: 10,
  }),
};

function blockOf(reply: Extract<Reply, { kind: "say" | "call" }>, id: string) {
  return reply.kind === "say"
    ? ({ type: "text", text: reply.text } as const)
    : ({ type: "tool_use", id: `toolu_${id}`, name: reply.call.name, input: reply.call.input } as const);
}

function piecesOf(message: Json): Piece[] {
  const blocks: Json[] =
    typeof message.content === "string" ? [{ type: "text", text: message.content }] : (message.content ?? []);
  return blocks.flatMap((block): Piece[] => {
    if (block.type === "tool_use") return [{ kind: "call", id: block.id, name: block.name }];
    if (block.type === "tool_result")
      return [{ kind: "result", id: block.tool_use_id, text: textOf(block.content) }];
    if (message.role === "assistant") return [{ kind: "said" }];
    return block.type === "text" ? [{ kind: "text", text: block.text }] : [];
  });
}
