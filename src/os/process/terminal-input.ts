import { readlinkSync } from "node:fs";
import { platform } from "../env.ts";
import type { ProcessRow } from "./process-table.ts";

/**
 * Returns whether a process reads a terminal, not a pipe or a file. Without /proc that is not known: then it must have another
 * terminal than `above`.
 * @param above the process above it
 */
export function readsTerminal({ pid, tty }: ProcessRow, above: ProcessRow): boolean {
  if (platform !== "linux") return tty !== above.tty;
  try {
    return /^\/dev\/(?:pts\/|tty|console)/.test(readlinkSync(`/proc/${pid}/fd/0`));
  } catch {
    // It has ended, or belongs to another user, as the shell of sudo does.
    return true;
  }
}
