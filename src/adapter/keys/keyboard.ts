import { processTable } from "../../os/process/process-table.ts";

/** Returns whether a program's process group is in the foreground of its terminal. */
export function isInForeground(pid: number | undefined): boolean {
  return processTable().some((row) => row.pid === pid && row.foreground === true);
}
