import { dirname } from "node:path";
import * as z from "zod/mini";
import { fileAccessError, isSystemError } from "../../errors.ts";
import { systemClock } from "../../os/clock.ts";
import { ensureDir, fileSize, readFrom, truncateFile } from "../../os/files/fs.ts";
import { appendLines } from "../../os/files/lines.ts";
import { redactValue } from "../../os/redact.ts";
import { tokenCount } from "../../schema/status.ts";
import { NO_TOKENS, sumOf, type TokenCount } from "../../schema/tokens.ts";
import { closeDangling } from "../model/messages.ts";
import type { ConversationMessage } from "../model/model.ts";
import { addSpent, NOTHING_SPENT } from "./call-model.ts";

/** One line of the conversation's file, without its time. */
export type TranscriptEntry =
  | {
      readonly type: "user";
      readonly message: Extract<ConversationMessage, { role: "user" }>;
      /** Inbox keys of the messages in it, which count as received. */
      readonly keys?: readonly string[];
    }
  | {
      readonly type: "assistant";
      readonly message: Extract<ConversationMessage, { role: "assistant" }>;
      readonly usage?: TokenCount;
      readonly costUsd?: number;
    }
  /** Cost of calls that added no message to the conversation. */
  | { readonly type: "spent"; readonly usage: TokenCount; readonly costUsd: number }
  /** Replaces all earlier lines: it contains everything that a reader needs from them. */
  | {
      readonly type: "compacted";
      readonly messages: readonly ConversationMessage[];
      /** Inbox keys of all earlier messages. */
      readonly keys: readonly string[];
      readonly newestKeys: readonly string[];
      readonly usage: TokenCount;
      readonly costUsd: number;
      /** A person cleared the conversation: nothing replaces the earlier messages. */
      readonly cleared?: true;
      readonly window?: LearnedWindow;
    };

/** Window size in tokens, learned when the server of a model rejected a request. */
export interface LearnedWindow {
  readonly model: string;
  readonly tokens: number;
}

/** A conversation, restored from its file. */
interface Restored {
  readonly messages: readonly ConversationMessage[];
  readonly handledKeys: ReadonlySet<string>;
  /** The keys of the newest turn's input. */
  readonly newestKeys: readonly string[];
  readonly tokens: TokenCount;
  /** US dollars. */
  readonly costUsd: number;
  /** Tokens of the newest call, and the number of messages after it. */
  readonly size: { readonly tokens: number; readonly newerMessages: number };
  readonly window?: LearnedWindow;
  /** Names the part of the file that cannot be read and is left out. */
  readonly damage?: string;
}
const NOTHING: Restored = {
  messages: [],
  handledKeys: new Set(),
  newestKeys: [],
  tokens: NO_TOKENS,
  costUsd: 0,
  size: { tokens: 0, newerMessages: 0 },
};

/** The file of a conversation: JSON lines, appended durably, with secrets redacted. */
export interface Transcript {
  readonly path: string;
  readonly sessionId: string;
  /** State that an earlier process of this session left; empty for a new session. */
  readonly restored: Restored;
  /** Appends an entry, and returns when it is on the disk. @throws a system error; the next call first removes an incomplete write */
  append(entry: TranscriptEntry): void;
}

interface TranscriptOptions {
  readonly sessionId: string;
  /** Values that are redacted in every line (`secretsOf`). */
  readonly secrets?: readonly string[];
}

const FORMAT = 1;

const content = z.array(z.looseObject({ type: z.string() }));
const keys = z._default(z.array(z.string()), []);
const costUsd = z._default(z.number(), 0);

/** A line of the file. The blocks of its messages are checked only for their type. */
export const transcriptLine = z.discriminatedUnion("type", [
  z.looseObject({ type: z.literal("session"), sessionId: z.string() }),
  z.looseObject({
    type: z.literal("user"),
    message: z.looseObject({ role: z.literal("user"), content }),
    keys,
  }),
  z.looseObject({
    type: z.literal("assistant"),
    message: z.looseObject({ role: z.literal("assistant"), content }),
    usage: z.optional(tokenCount),
    costUsd,
  }),
  z.looseObject({ type: z.literal("spent"), usage: tokenCount, costUsd }),
  z.looseObject({
    type: z.literal("compacted"),
    messages: z.array(z.looseObject({ role: z.enum(["user", "assistant"]), content })),
    keys,
    newestKeys: keys,
    usage: tokenCount,
    costUsd,
    cleared: z.catch(z.optional(z.literal(true)), undefined),
    window: z.catch(
      z.optional(z.object({ model: z.string(), tokens: z.number().check(z.positive()) })),
      undefined,
    ),
  }),
]);

export type TranscriptLine = z.infer<typeof transcriptLine>;

/**
 * The beginning of a compaction line. It includes the preceding line feed, which JSON text never contains, so no other text
 * matches.
 */
const COMPACTED = '\n{"type":"compacted"';

/**
 * Opens or creates the conversation of a session. The first write removes an incomplete last line, left by a process that died
 * while writing. Adds an error result to each tool call without a result, so that the conversation stays valid.
 */
export function openTranscript(path: string, options: TranscriptOptions): Transcript {
  const { sessionId, secrets = [] } = options;
  const { restored, end } = restore(path);
  let exists = end !== undefined;
  /** The size of the file without an incomplete write; undefined after a successful write. */
  let goodSize = end;
  const write = (value: object): void => {
    const size = fileSize(path) ?? 0;
    if (goodSize !== undefined && size > goodSize) truncateFile(path, goodSize);
    // This also removes a line that is complete but not synced: the next attempt would repeat it.
    goodSize ??= size;
    appendLines(path, `${JSON.stringify(redactValue(value, secrets))}\n`, true);
    goodSize = undefined;
  };
  return {
    path,
    sessionId,
    restored,
    append(entry) {
      const at = new Date(systemClock.now()).toISOString();
      if (!exists) {
        ensureDir(dirname(path));
        write({ type: "session", version: FORMAT, sessionId, at });
        exists = true;
      }
      write({ ...entry, at });
    },
  };
}

/**
 * @returns the content of the file, and the end of its last complete line; no end if the file does not exist
 * @throws TeamError if the file cannot be read
 */
function restore(path: string): { readonly restored: Restored; readonly end?: number } {
  const bytes = readConversation(path);
  if (bytes === undefined) return { restored: NOTHING };
  const whole = bytes.lastIndexOf(0x0a) + 1;
  const messages: ConversationMessage[] = [];
  const handledKeys = new Set<string>();
  let newestKeys: readonly string[] = [];
  let spent = NOTHING_SPENT;
  let sized = { tokens: 0, at: 0 };
  let window: LearnedWindow | undefined;
  let unreadable = 0;
  for (const text of linesOf(bytes, whole)) {
    const parsed = readLine(text);
    switch (parsed?.type) {
      case "compacted":
        messages.splice(0, messages.length, ...(parsed.messages as unknown as ConversationMessage[]));
        for (const key of parsed.keys) handledKeys.add(key);
        newestKeys = parsed.newestKeys;
        spent = { usage: parsed.usage, costUsd: parsed.costUsd };
        sized = { tokens: 0, at: 0 };
        window = parsed.window;
        break;
      case "user":
        messages.push(parsed.message as unknown as ConversationMessage);
        if (parsed.message.origin !== undefined) newestKeys = parsed.keys;
        for (const key of parsed.keys) handledKeys.add(key);
        break;
      case "assistant": {
        messages.push(parsed.message as unknown as ConversationMessage);
        const { usage = NO_TOKENS } = parsed;
        spent = addSpent(spent, { usage, costUsd: parsed.costUsd });
        if (parsed.message.unfinished !== true) sized = { tokens: sumOf(usage), at: messages.length };
        break;
      }
      case "spent":
        spent = addSpent(spent, { usage: parsed.usage, costUsd: parsed.costUsd });
        break;
      case "damaged":
        unreadable += 1;
        break;
      default:
    }
  }
  const damage = damageOf(path, bytes.length, unreadable);
  const restored: Restored = {
    messages: closeDangling(messages),
    handledKeys,
    newestKeys,
    tokens: spent.usage,
    costUsd: spent.costUsd,
    size: { tokens: sized.tokens, newerMessages: messages.length - sized.at },
    ...(window === undefined ? {} : { window }),
    ...(damage === undefined ? {} : { damage }),
  };
  return { restored, end: whole };
}

function readConversation(path: string): Buffer | undefined {
  try {
    return readFrom(path, 0);
  } catch (error) {
    throw isSystemError(error) ? fileAccessError(path, "read", error) : error;
  }
}

function damageOf(path: string, size: number, unreadable: number): string | undefined {
  if (size === 0) return `the file of the conversation is empty: ${path}`;
  if (unreadable === 0) return undefined;
  const lines = unreadable === 1 ? "1 line" : `${unreadable} lines`;
  return `${lines} of the conversation cannot be read, and ${unreadable === 1 ? "is" : "are"} left out: ${path}`;
}

/** Yields the lines from the newest compaction on, one by one: a whole file can exceed the maximum length of a string. */
function* linesOf(bytes: Buffer, end: number): Generator<string> {
  let from = newestCompaction(bytes, end);
  while (from < end) {
    const next = bytes.indexOf(0x0a, from);
    yield bytes.toString("utf8", from, next);
    from = next + 1;
  }
}

/** Returns the position of the newest readable compaction line; 0 without one. */
function newestCompaction(bytes: Buffer, end: number): number {
  let at = end;
  // The search begins before the last line feed, because no complete line follows it.
  while (at > 1) {
    at = bytes.lastIndexOf(COMPACTED, at - 2);
    if (at < 0) return 0;
    const text = bytes.toString("utf8", at + 1, bytes.indexOf(0x0a, at + 1));
    if (readLine(text)?.type === "compacted") return at + 1;
  }
  return 0;
}

const KNOWN: ReadonlySet<unknown> = new Set(["session", "user", "assistant", "spent", "compacted"]);

/** Returns undefined for a line of a newer version, which the reader skips. */
function readLine(text: string): TranscriptLine | { readonly type: "damaged" } | undefined {
  if (text === "") return undefined;
  try {
    const value: unknown = JSON.parse(text);
    const parsed = transcriptLine.safeParse(value);
    if (parsed.success) return parsed.data;
    const type = typeof value === "object" && value !== null && "type" in value ? value.type : undefined;
    return typeof type !== "string" || KNOWN.has(type) ? { type: "damaged" } : undefined;
  } catch {
    return { type: "damaged" };
  }
}
