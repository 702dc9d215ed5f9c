import { dirname } from "node:path";
import * as z from "zod/mini";
import { type Clock, systemClock } from "../../os/clock.ts";
import { appendDurably, ensureDir, readFrom, truncateFile } from "../../os/files/fs.ts";
import { redactValue } from "../../os/redact.ts";
import { tokenCount } from "../../schema/status.ts";
import { NO_TOKENS, sumOf, type TokenCount } from "../../schema/tokens.ts";
import { closeDangling } from "../model/messages.ts";
import type { ConversationMessage } from "../model/model.ts";
import { addSpent, NOTHING_SPENT } from "./call-model.ts";

/** What a line of the conversation's file holds beside its time. */
type TranscriptEntry =
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
      readonly costUsd?: number;
    }
  /** What calls took that left no message. */
  | { readonly type: "spent"; readonly usage: TokenCount; readonly costUsd: number }
  /** The conversation goes on with these messages in place of all before. Whole in itself: nobody reads further back. */
  | {
      readonly type: "compacted";
      readonly messages: readonly ConversationMessage[];
      /** Of everything before. */
      readonly keys: readonly string[];
      readonly newestKeys: readonly string[];
      readonly usage: TokenCount;
      readonly costUsd: number;
      readonly window?: LearnedWindow;
    };

/** How many tokens the server of a model takes, where it has said so by refusing more. */
export interface LearnedWindow {
  readonly model: string;
  readonly tokens: number;
}

/** A conversation as its file tells it. */
interface Restored {
  readonly messages: readonly ConversationMessage[];
  readonly handledKeys: ReadonlySet<string>;
  /** Of those, the ones that the newest turn began with. */
  readonly newestKeys: readonly string[];
  readonly tokens: TokenCount;
  /** US dollars. */
  readonly costUsd: number;
  /** Tokens of the newest call, and how many messages stand behind it. */
  readonly size: { readonly tokens: number; readonly behind: number };
  readonly window?: LearnedWindow;
}
const NOTHING: Restored = {
  messages: [],
  handledKeys: new Set(),
  newestKeys: [],
  tokens: NO_TOKENS,
  costUsd: 0,
  size: { tokens: 0, behind: 0 },
};

/** The conversation's file: one JSON object a line, appended durably, with no secret in it. */
export interface Transcript {
  readonly path: string;
  readonly sessionId: string;
  /** What an earlier process of this session left; empty for a new one. */
  readonly restored: Restored;
  /** On the disk when it returns. */
  append(entry: TranscriptEntry): void;
}

interface TranscriptOptions {
  readonly sessionId: string;
  /** Values that are masked in every line (`secretsOf`). */
  readonly secrets?: readonly string[];
  readonly clock?: Clock;
}

const FORMAT = 1;

const content = z.array(z.looseObject({ type: z.string() }));
const keys = z._default(z.array(z.string()), []);
const costUsd = z._default(z.number(), 0);

/** A line of the file; a message in it is taken as it is. */
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
    window: z.catch(
      z.optional(z.object({ model: z.string(), tokens: z.number().check(z.positive()) })),
      undefined,
    ),
  }),
]);

export type TranscriptLine = z.infer<typeof transcriptLine>;

/** How a line that begins a conversation anew starts: behind a line's end, which is in no JSON text, so nothing else does. */
const COMPACTED = '\n{"type":"compacted"';

/**
 * Opens a session's conversation, or begins one. A last line that a dying process wrote in half is cut off, and a tool
 * call without a result gets an error as its result, so that the conversation can go on.
 */
export function openTranscript(path: string, options: TranscriptOptions): Transcript {
  const { sessionId, secrets = [], clock = systemClock } = options;
  const restored = restore(path);
  let begun = restored !== undefined;
  const write = (value: object): void =>
    appendDurably(path, `${JSON.stringify(redactValue(value, secrets))}\n`);
  return {
    path,
    sessionId,
    restored: restored ?? NOTHING,
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
  let spent = NOTHING_SPENT;
  let sized = { tokens: 0, at: 0 };
  let window: LearnedWindow | undefined;
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
      default:
    }
  }
  return {
    messages: closeDangling(messages),
    handledKeys,
    newestKeys,
    tokens: spent.usage,
    costUsd: spent.costUsd,
    size: { tokens: sized.tokens, behind: messages.length - sized.at },
    ...(window === undefined ? {} : { window }),
  };
}

/** One after another, so that no conversation is too long for one text; from the newest compaction on. */
function* linesOf(bytes: Buffer, end: number): Generator<string> {
  let from = newestCompaction(bytes, end);
  while (from < end) {
    const next = bytes.indexOf(0x0a, from);
    yield bytes.toString("utf8", from, next);
    from = next + 1;
  }
}

/** Where the newest line of a compaction begins that can be read; 0 where there is none. */
function newestCompaction(bytes: Buffer, end: number): number {
  let at = end;
  // Not at the last line's end, behind which nothing whole stands.
  while (at > 1) {
    at = bytes.lastIndexOf(COMPACTED, at - 2);
    if (at < 0) return 0;
    const text = bytes.toString("utf8", at + 1, bytes.indexOf(0x0a, at + 1));
    if (readLine(text)?.type === "compacted") return at + 1;
  }
  return 0;
}

/** A line that is no entry of ours (a newer version's, a damaged one) is passed over; the rest still counts. */
function readLine(text: string): TranscriptLine | undefined {
  if (text === "") return undefined;
  try {
    const parsed = transcriptLine.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : undefined;
  } catch {
    // Not JSON: a damaged line, which says nothing that could be used.
    return undefined;
  }
}
