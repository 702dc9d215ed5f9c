/** A tool that a program offers to its model. */
export interface OfferedTool {
  readonly name: string;
  /** Codex groups the tools of an MCP server in a namespace. */
  readonly namespace?: string | undefined;
  readonly schema?: unknown;
}

/** One piece of a conversation, in its order. */
export type Piece =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "said" }
  | { readonly kind: "call"; readonly id: string; readonly name: string }
  | { readonly kind: "result"; readonly id: string; readonly text: string };

/** A request to a model, independent of its format. */
export interface Ask {
  readonly model: string;
  readonly tools: readonly OfferedTool[];
  readonly pieces: readonly Piece[];
  /** False if the program wants one JSON answer. */
  readonly streams: boolean;
}

export interface Call {
  readonly name: string;
  readonly namespace?: string | undefined;
  readonly input: Readonly<Record<string, unknown>>;
}

/** An answer of the fake model: a text, a tool call, an error, or none. */
export type Reply =
  | { readonly kind: "say"; readonly text: string }
  | { readonly kind: "call"; readonly call: Call }
  | { readonly kind: "fail"; readonly status: number; readonly message: string }
  | { readonly kind: "stay" };

// biome-ignore lint/suspicious/noExplicitAny: the bodies of four interfaces, of which few fields are read
export type Json = any;

/** One format of a model's interface. */
export interface Dialect {
  /** Returns whether a request to this path is a request to the model. */
  takes(path: string): boolean;
  parse(body: Json, path: string): Ask;
  /** Returns the events of a stream. */
  events(reply: Extract<Reply, { kind: "say" | "call" }>, id: string): readonly string[];
  /** Returns the answer to a request that does not stream. */
  whole(reply: Extract<Reply, { kind: "say" | "call" }>, id: string): Json;
}

/** Formats an event of a stream without a name. */
export function dataEvent(data: unknown): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}

/** Formats an event of a stream whose name is its type. */
export function namedEvent(data: { readonly type: string }): string {
  return `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** Returns the text of a string, or of a list of blocks. */
export function textOf(content: Json): string {
  if (typeof content === "string") return content;
  if (Array.isArray(content)) return content.map((part) => part.text ?? JSON.stringify(part)).join("\n");
  return content === undefined ? "" : JSON.stringify(content);
}
