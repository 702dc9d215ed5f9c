import { pause, steadyNow } from "./clock.ts";
import {
  below,
  isTmuxServer,
  ownPid,
  type ProcessRow,
  processTable,
  signalProcess,
  startedWithAny,
} from "./process-table.ts";

/** The name of the mark that finds what a command started, wherever it went: its value is one run of one command. */
export const COMMAND_VARIABLE = "TEAMS_COMMAND";

/** Milliseconds from SIGTERM to SIGKILL. */
const GRACE_MS = 500;
/** After SIGKILL only the kernel takes time. */
const KILL_WAIT_MS = 2_000;
/** How often the table is looked at while something is expected to end. */
const LOOK_EVERY_MS = 25;

/**
 * Ends a command and all it started: SIGTERM, and past the grace SIGKILL, each once to every process of its group, of its session
 * and with its mark, as they are found again at every look. What dropped the mark and left the session escapes.
 * @param pid that began the group and the session
 */
export async function endCommand(pid: number, mark: string): Promise<void> {
  for (const [signal, ms] of [
    ["SIGTERM", GRACE_MS],
    ["SIGKILL", KILL_WAIT_MS],
  ] as const) {
    const deadline = steadyNow() + ms;
    const told = new Set<string>();
    for (;;) {
      const rows = startedBy(processTable(), pid, startedWithAny(`${COMMAND_VARIABLE}=${mark}`));
      if (rows.length === 0) return;
      for (const row of rows) {
        const key = `${row.pid} ${row.procStart}`;
        if (!told.has(key)) signalProcess(row.pid, signal);
        told.add(key);
      }
      if (steadyNow() >= deadline) break;
      await pause(LOOK_EVERY_MS);
    }
  }
}

/**
 * What a command started, of these. Pure but for `marked`. A tmux server that it started hands the mark to every later pane of the
 * user: neither it nor what lives below it is the command's.
 */
export function startedBy(
  table: readonly ProcessRow[],
  pid: number,
  marked: (pid: number) => boolean,
): readonly ProcessRow[] {
  const isOfGroup = (row: ProcessRow): boolean => row.pgid === pid || row.sid === pid;
  const found = table.filter(
    (row) => row.pid !== ownPid && row.pid > 1 && (isOfGroup(row) || marked(row.pid)),
  );
  const foreign = below(
    table,
    found.filter((row) => isTmuxServer(row) && !isOfGroup(row)),
  );
  return found.filter((row) => !foreign.has(row));
}
