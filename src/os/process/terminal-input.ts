import { readlinkSync } from "node:fs";
import { platform } from "../env.ts";
import type { ProcessRow } from "./process-table.ts";

/**
 * Returns whether a process reads a terminal, not a pipe or a file. Without /proc, returns whether its terminal differs from
 * its ancestor's.
 */
export function readsTerminal({ pid, tty }: ProcessRow, ancestor: ProcessRow): boolean {
  if (platform !== "linux") return tty !== ancestor.tty;
  try {
    return /^\/dev\/(?:pts\/|tty|console)/.test(readlinkSync(`/proc/${pid}/fd/0`));
  } catch {
    // The process has ended, or belongs to another user, as the shell of sudo does.
    return true;
  }
}
