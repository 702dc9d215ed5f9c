import { type Dialect, dataEvent, type Json, type Piece, type Reply } from "./ask.ts";

/** The generateContent interface of Gemini. */
export const gemini: Dialect = {
  takes: (path) => /:(streamG|g)enerateContent|:countTokens/.test(path),
  parse: (body, path) => ({
    model: /models\/([^:]+):/.exec(path)?.[1] ?? "",
    streams: path.includes(":streamGenerateContent"),
    tools: (body.tools ?? []).flatMap((group: Json) =>
      (group.functionDeclarations ?? []).map((tool: Json) => ({
        name: tool.name,
        schema: tool.parametersJsonSchema ?? tool.parameters,
      })),
    ),
    pieces: (body.contents ?? []).flatMap(piecesOf),
  }),
  events: (reply) => [dataEvent(answerTo(reply))],
  whole: (reply) => ({ ...answerTo(reply), totalTokens: 10 }),
};

function answerTo(reply: Extract<Reply, { kind: "say" | "call" }>) {
  const part =
    reply.kind === "say"
      ? { text: reply.text }
      : { functionCall: { name: reply.call.name, args: reply.call.input } };
  return {
    candidates: [{ index: 0, content: { role: "model", parts: [part] }, finishReason: "STOP" }],
    usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
    modelVersion: "fake",
  };
}

/** Ids of calls and results are optional, so the names of the tools serve as ids. */
function piecesOf({ role, parts = [] }: Json): Piece[] {
  return parts.flatMap((part: Json): Piece[] => {
    if (part.functionCall !== undefined)
      return [{ kind: "call", id: part.functionCall.name, name: part.functionCall.name }];
    if (part.functionResponse !== undefined) {
      const { name, response } = part.functionResponse;
      return [{ kind: "result", id: name, text: JSON.stringify(response) }];
    }
    if (part.text === undefined || part.thought) return [];
    return role === "model" ? [{ kind: "said" }] : [{ kind: "text", text: part.text }];
  });
}
