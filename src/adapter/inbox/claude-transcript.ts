import { systemCode } from "../../errors.ts";
import { pause, steadyNow } from "../../os/clock.ts";
import { linesBackwards } from "../../os/files/lines.ts";
import { lastWordsIn } from "../last-words.ts";
import { type Fields, fieldsIn, fieldsOf } from "../reported-values.ts";

/** Bytes at the end of a transcript that are searched for its newest turn. */
const TAIL_BYTES = 1024 * 1024;
/** claude writes this as the last entry of a turn that Escape has ended (2.1.34 to 2.1.332); a person's prompt is not stored as a block. */
const INTERRUPTED = "[Request interrupted by user";
/** Maximum milliseconds until claude has written the last text of a turn. */
const WRITTEN_MS = 1_000;
/** Milliseconds between two polls. */
const POLL_MS = 50;

/** The end of a claude conversation. */
interface TranscriptEnd {
  /** When a person ended the newest turn in claude's screen, in milliseconds since the epoch. */
  readonly interruptedAt?: number;
  /** The newest text of the model in the newest turn. */
  readonly words?: string;
  /** True if no tool call follows these words. */
  readonly isLast?: boolean;
}

/**
 * Reads the end of the file in which claude keeps its conversation (`transcript_path` of its hooks). Hostile: the file may be any other.
 */
export function transcriptEnd(path: string): TranscriptEnd {
  let id: unknown;
  let words = "";
  let isLast = true;
  for (const { type, message, at } of entriesBackwards(path)) {
    const { content } = message;
    if (type === "user" && id === undefined && isInterruptedMark(content))
      return Number.isFinite(at) ? { interruptedAt: at } : {};
    // A tool result belongs to the turn; any other user entry begins it.
    if (type === "user" && !isToolResult(content)) break;
    if (type !== "assistant") {
      isLast = false;
      continue;
    }
    // claude writes one entry for each block of a message.
    if (words !== "" && message.id !== id) break;
    id = message.id ?? null;
    const text = blocksOf(content).map(textOf).join("");
    if (text === "" && words === "") isLast = false;
    words = `${text}${words}`;
  }
  const shown = lastWordsIn(words, path);
  return shown === "" ? {} : { words: shown, isLast };
}

/** Returns the last words of the turn that is ending, which claude may write after its hook has begun; undefined if there are none. */
export async function lastWordsOf(path: string): Promise<string | undefined> {
  const end = steadyNow() + WRITTEN_MS;
  for (;;) {
    const { words, isLast } = transcriptEnd(path);
    if (isLast === true || steadyNow() >= end) return words;
    await pause(POLL_MS);
  }
}

interface Entry {
  readonly type: unknown;
  readonly message: Fields;
  readonly at: number;
}

/** Yields the entries of the conversation itself, newest first, without the work of subagents and without metadata. */
function* entriesBackwards(path: string): Generator<Entry, undefined> {
  try {
    for (const line of linesBackwards(path, TAIL_BYTES)) {
      if (!line.includes('"type":"user"') && !line.includes('"type":"assistant"')) continue;
      const { type, message, timestamp, isSidechain, isMeta } = fieldsIn(line);
      if ((type !== "user" && type !== "assistant") || isSidechain === true || isMeta === true) continue;
      yield { type, message: fieldsOf(message), at: Date.parse(String(timestamp)) };
    }
  } catch (error) {
    // A hostile path, such as a directory or another user's file.
    if (systemCode(error) === undefined) throw error;
  }
}

function blocksOf(content: unknown): readonly Fields[] {
  return Array.isArray(content) ? content.map(fieldsOf) : [];
}

function isInterruptedMark(content: unknown): boolean {
  const [block, ...more] = blocksOf(content);
  return more.length === 0 && block !== undefined && textOf(block).startsWith(INTERRUPTED);
}

function isToolResult(content: unknown): boolean {
  return blocksOf(content).some(({ type }) => type === "tool_result");
}

function textOf({ type, text }: Fields): string {
  return type === "text" && typeof text === "string" ? text : "";
}
