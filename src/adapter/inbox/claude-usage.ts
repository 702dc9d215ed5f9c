import { join } from "node:path";
import { FollowedFile } from "../../os/files/followed-file.ts";
import { entryOf, listDir } from "../../os/files/fs.ts";
import { ifReadable } from "../../os/files/if-readable.ts";
import { addTokens, NO_TOKENS, sumOf, type TokenCount, tokensSince } from "../../schema/tokens.ts";
import { countOf, fieldsIn, fieldsOf } from "../reported-values.ts";

const TRANSCRIPT = /^\/[^\0]+\.jsonl$/;
/** Maximum bytes at the end of a file that the first read covers: a resumed conversation has earlier entries. */
const TAIL_BYTES = 4 * 1024 * 1024;
/** Maximum number of subagent files that are followed. */
const MAX_FILES = 200;

/**
 * Counts the tokens of claude's model calls from the files of its conversation (`transcript_path` of its hooks) and of its subagents
 * (`<session>/subagents/`, 2.1.150 and newer). Hostile: the files may be any others.
 */
export class ClaudeUsage {
  readonly #since: number;
  readonly #files = new Map<string, FollowedFile>();
  /** Keyed by message: claude writes an entry for each block of a message, with the same or a larger count. */
  readonly #counted = new Map<string, TokenCount>();
  #uncollected = NO_TOKENS;

  /** @param since milliseconds since the epoch: earlier entries are those of an earlier process */
  constructor(since: number) {
    this.#since = since;
  }

  /** Reads new entries. @returns the usage since the last call; undefined if there is none */
  take(transcript: string): TokenCount | undefined {
    if (!TRANSCRIPT.test(transcript)) return undefined;
    for (const path of [transcript, ...subagentFiles(transcript)])
      ifReadable(() => this.#fileOf(path)?.read());
    const usage = this.#uncollected;
    this.#uncollected = NO_TOKENS;
    return sumOf(usage) > 0 ? usage : undefined;
  }

  #fileOf(path: string): FollowedFile | undefined {
    const known = this.#files.get(path);
    if (known !== undefined) return known;
    const entry = entryOf(path);
    if (entry?.isFile() !== true || this.#files.size > MAX_FILES) return undefined;
    const file = new FollowedFile(
      path,
      (line) => this.#onLine(line),
      Math.max(0, Number(entry.size) - TAIL_BYTES),
    );
    this.#files.set(path, file);
    return file;
  }

  #onLine(line: string): void {
    if (!line.includes('"assistant"')) return;
    const { type, timestamp, uuid, message } = fieldsIn(line);
    const at = Date.parse(String(timestamp));
    if (type !== "assistant" || !(at >= this.#since)) return;
    const { id, usage } = fieldsOf(message);
    const key = String(id ?? uuid);
    const tokens = tokensOf(usage);
    const before = this.#counted.get(key) ?? NO_TOKENS;
    if (sumOf(tokens) <= sumOf(before)) return;
    this.#counted.set(key, tokens);
    this.#uncollected = addTokens(this.#uncollected, tokensSince(tokens, before));
  }
}

/** Returns the files of the subagents. Those of a workflow are in a subdirectory. */
function subagentFiles(transcript: string): readonly string[] {
  const directory = join(transcript.replace(/\.jsonl$/, ""), "subagents");
  const entries = ifReadable(() => listDir(directory)) ?? [];
  return entries.flatMap((name) =>
    name.endsWith(".jsonl")
      ? [join(directory, name)]
      : (ifReadable(() => listDir(join(directory, name))) ?? [])
          .filter((inner) => inner.endsWith(".jsonl"))
          .map((inner) => join(directory, name, inner)),
  );
}

function tokensOf(usage: unknown): TokenCount {
  const counts = fieldsOf(usage);
  return {
    input: countOf(counts.input_tokens),
    output: countOf(counts.output_tokens),
    cacheRead: countOf(counts.cache_read_input_tokens),
    cacheWrite: countOf(counts.cache_creation_input_tokens),
  };
}
