import { fileSize } from "../../os/files/fs.ts";
import { appendLines, linesBackwards } from "../../os/files/lines.ts";
import { ownSecrets, redactText } from "../../os/redact.ts";

/** The lines that a person has typed, for the keys up and Ctrl-R. */
export interface History {
  /** The lines, oldest first, without duplicates. */
  entries(): readonly string[];
  add(line: string): void;
}

const MAX_ENTRIES = 1_000;
/** Enough for a thousand usual lines; an older part of the file is not read. */
const MAX_BYTES = 512 * 1024;

/**
 * Keeps a history in a private file that all panes append to, one JSON string for each line. A line that begins with a
 * space is not kept, as in shells, and secrets of the environment are redacted. The file is read only for an earlier line, and again
 * once it has grown.
 * @param problem reports once that the file cannot be written or read; this process then remembers its own lines
 */
export function fileHistory(path: string, problem: (error: unknown) => void): History {
  /** The lines of the file when it had this size. */
  let known: { readonly size: number; readonly lines: readonly string[] } | undefined;
  let own: readonly string[] = [];
  let isBroken = false;
  const guarded = <T>(work: () => T): T | undefined => {
    if (isBroken) return undefined;
    try {
      return work();
    } catch (error) {
      isBroken = true;
      problem(error);
      return undefined;
    }
  };
  const newest = (): readonly string[] => {
    const size = fileSize(path) ?? 0;
    if (known?.size !== size) known = { size, lines: read(path) };
    return known.lines;
  };
  return {
    entries: () => guarded(newest) ?? [...(known?.lines ?? []).filter((line) => !own.includes(line)), ...own],
    add(typed) {
      if (/^\s/.test(typed)) return;
      const line = redactText(typed, ownSecrets());
      own = [...own.filter((other) => other !== line), line].slice(-MAX_ENTRIES);
      guarded(() => appendLines(path, `${JSON.stringify(line)}\n`, false));
    },
  };
}

function read(path: string): string[] {
  const seen = new Set<string>();
  for (const json of linesBackwards(path, MAX_BYTES)) {
    const line = parsed(json);
    if (line !== undefined) seen.add(line);
    if (seen.size >= MAX_ENTRIES) break;
  }
  return [...seen].reverse();
}

/** Undefined for a line that no version of teams wrote. */
function parsed(json: string): string | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "string" ? value : undefined;
  } catch {
    // The line is damaged; the others are kept.
    return undefined;
  }
}
