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
 * space is not kept, as in shells, and secrets of the environment are redacted. The file is read once, when the person first asks
 * for an earlier line.
 * @param problem reports once that the file cannot be written or read; this process then remembers its own lines
 */
export function fileHistory(path: string, problem: (error: unknown) => void): History {
  let lines: string[] | undefined;
  let isBroken = false;
  const guarded = <T>(work: () => T, fallback: T): T => {
    if (isBroken) return fallback;
    try {
      return work();
    } catch (error) {
      isBroken = true;
      problem(error);
      return fallback;
    }
  };
  const remember = (line: string): void => {
    lines = [...(lines ?? []).filter((other) => other !== line), line].slice(-MAX_ENTRIES);
  };
  const added: string[] = [];
  return {
    entries() {
      if (lines === undefined) {
        lines = guarded(() => read(path), []);
        for (const line of added) remember(line);
      }
      return lines ?? [];
    },
    add(typed) {
      if (/^\s/.test(typed)) return;
      const line = redactText(typed, ownSecrets());
      if (lines === undefined) added.push(line);
      else remember(line);
      guarded(() => void appendLines(path, `${JSON.stringify(line)}\n`, false), undefined);
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
