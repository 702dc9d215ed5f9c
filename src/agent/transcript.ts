import { dirname } from "node:path";
import * as z from "zod/mini";
import { type Clock, systemClock } from "../os/clock.ts";
import { appendDurably, ensureDir, readFrom, truncateFile } from "../os/fs.ts";
import { maskValue } from "../os/secrets.ts";
import { NO_TOKENS, type TokenCount, tokenCount } from "../schema/status.ts";
import { closeDangling } from "./conversation.ts";
import type { ConversationMessage } from "./model/model.ts";

/** What a line of the conversation's file holds beside its time. */
export type TranscriptEntry =
  | {
      readonly type: "user";
      readonly message: Extract<ConversationMessage, { role: "user" }>;
      /** Inbox keys of the messages in it: what is named here was received. */
      readonly keys?: readonly string[];
    }
  | {
      readonly type: "assistant";
      readonly message: Extract<ConversationMessage, { role: "assistant" }>;
      readonly usage?: TokenCount;
    };

/** A conversation as its file tells it. */
export interface Restored {
  readonly messages: readonly ConversationMessage[];
  readonly handledKeys: ReadonlySet<string>;
  /** Of those, the ones that the newest turn began with. */
  readonly newestKeys: readonly string[];
  readonly tokens: TokenCount;
}

/** The conversation's file: one JSON object a line, appended durably, with no secret in it. */
export interface Transcript {
  readonly path: string;
  readonly sessionId: string;
  /** What an earlier process of this session left; empty for a new one. */
  readonly restored: Restored;
  /** On the disk when it returns. */
  append(entry: TranscriptEntry): void;
}

export interface TranscriptOptions {
  readonly sessionId: string;
  /** Values that are masked in every line (`secretsOf`). */
  readonly secrets?: readonly string[];
  readonly clock?: Clock;
}

const FORMAT = 1;

const line = z.discriminatedUnion("type", [
  z.looseObject({ type: z.literal("session"), sessionId: z.string() }),
  z.looseObject({
    type: z.literal("user"),
    message: z.looseObject({
      role: z.literal("user"),
      content: z.array(z.looseObject({ type: z.string() })),
    }),
    keys: z._default(z.array(z.string()), []),
  }),
  z.looseObject({
    type: z.literal("assistant"),
    message: z.looseObject({
      role: z.literal("assistant"),
      content: z.array(z.looseObject({ type: z.string() })),
    }),
    usage: z.optional(tokenCount),
  }),
]);

/**
 * Opens a session's conversation, or begins one. A last line that a dying process wrote in half is cut off, and a tool
 * call without a result gets an error as its result, so that the conversation can go on.
 */
export function openTranscript(path: string, options: TranscriptOptions): Transcript {
  const { sessionId, secrets = [], clock = systemClock } = options;
  const restored = restore(path);
  let begun = restored !== undefined;
  const write = (value: object): void =>
    appendDurably(path, `${JSON.stringify(maskValue(value, secrets))}\n`);
  return {
    path,
    sessionId,
    restored: restored ?? { messages: [], handledKeys: new Set(), newestKeys: [], tokens: NO_TOKENS },
    append(entry) {
      const at = new Date(clock.now()).toISOString();
      if (!begun) {
        ensureDir(dirname(path));
        write({ type: "session", version: FORMAT, sessionId, at });
        begun = true;
      }
      write({ ...entry, at });
    },
  };
}

function restore(path: string): Restored | undefined {
  const bytes = readFrom(path, 0);
  if (bytes === undefined) return undefined;
  const whole = bytes.lastIndexOf(0x0a) + 1;
  if (whole < bytes.length) truncateFile(path, whole);
  const messages: ConversationMessage[] = [];
  const handledKeys = new Set<string>();
  let newestKeys: readonly string[] = [];
  let tokens = NO_TOKENS;
  for (const text of bytes.subarray(0, whole).toString("utf8").split("\n")) {
    const parsed = readLine(text);
    if (parsed === undefined || parsed.type === "session") continue;
    messages.push(parsed.message as unknown as ConversationMessage);
    if (parsed.type === "user") {
      if (parsed.message.origin !== undefined) newestKeys = parsed.keys;
      for (const key of parsed.keys) handledKeys.add(key);
    } else if (parsed.usage !== undefined) tokens = addTokens(tokens, parsed.usage);
  }
  return { messages: closeDangling(messages), handledKeys, newestKeys, tokens };
}

/** A line that is no entry of ours (a newer version's, a damaged one) is passed over; the rest still counts. */
function readLine(text: string): z.infer<typeof line> | undefined {
  if (text === "") return undefined;
  try {
    const parsed = line.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : undefined;
  } catch {
    // Not JSON: a damaged line, which says nothing that could be used.
    return undefined;
  }
}

export function addTokens(a: TokenCount, b: TokenCount): TokenCount {
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
  };
}
