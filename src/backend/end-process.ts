import { INSTANCE_VARIABLE } from "../launch/environment.ts";
import { pause, steadyNow } from "../os/clock.ts";
import {
  below as allBelow,
  isTmuxServer,
  ownPid,
  type ProcessRow,
  processTable,
  signalProcess,
  startedWithAny,
} from "../os/process-table.ts";

export interface TreeRoot {
  /** The launch script: what the place runs. */
  readonly root: { readonly pid: number; readonly procStart: string };
  /** The process that it lived in, where it had none of its own: what is marked below that is looked for too. */
  readonly host?: { readonly pid: number; readonly procStart: string };
  /** The instance's uuid, which everything it started carries in its environment. */
  readonly marker: string;
}

/** How often the table is looked at while something is expected to end. */
const LOOK_EVERY_MS = 25;
/** After SIGKILL only the kernel takes time. */
const KILL_WAIT_MS = 2000;

/**
 * Ends a process and all it started: SIGTERM, and past the grace SIGKILL, each to descendants, session members and
 * marked ones as they are found again at every look. Best effort: what dropped the marker, left the session and lost
 * its parent escapes (docs/endings.md). On macOS the process group and the terminal stand for the session.
 * @returns the pids that were still there at the end
 */
export async function endTree(
  tree: TreeRoot,
  { graceMs }: { readonly graceMs: number },
): Promise<{ readonly left: number[] }> {
  const ever = new Map<number, string>();
  await signalUntilGone(tree, "SIGTERM", graceMs, ever);
  const left = await signalUntilGone(tree, "SIGKILL", KILL_WAIT_MS, ever);
  return { left };
}

/** Signals each process once, those that appear later too, until none is left or the time is up. */
async function signalUntilGone(
  tree: TreeRoot,
  signal: NodeJS.Signals,
  forMs: number,
  ever: Map<number, string>,
): Promise<number[]> {
  const deadline = steadyNow() + forMs;
  const signalled = new Set<string>();
  for (;;) {
    const table = processTable();
    const members = treeMembers(table, tree, ever, startedWithAny(`${INSTANCE_VARIABLE}=${tree.marker}`));
    if (members.length === 0) return [];
    for (const row of members) {
      ever.set(row.pid, row.procStart);
      const key = `${row.pid} ${row.procStart}`;
      if (!signalled.has(key)) signalProcess(row.pid, signal);
      signalled.add(key);
    }
    if (steadyNow() >= deadline) return members.map((row) => row.pid);
    await pause(LOOK_EVERY_MS);
  }
}

/**
 * Which processes belong to the tree. Pure but for `marked`.
 * @param ever those found before, by pid and start: an orphan whose parent has just ended is still one of them
 */
export function treeMembers(
  table: readonly ProcessRow[],
  { root, host }: TreeRoot,
  ever: ReadonlyMap<number, string>,
  marked: (pid: number) => boolean,
): readonly ProcessRow[] {
  const below = (start: Iterable<ProcessRow>): Set<ProcessRow> => allBelow(table, start);
  const top = table.find((row) => row.pid === root.pid);
  const ours = top !== undefined && top.procStart === root.procStart;
  // While a session lives its number is no new process's pid: a stranger with the root's pid means that ours is over.
  const sessionIsOurs = ours || top === undefined;
  const servers = below(table.filter(isTmuxServer));
  const seeds = table.filter(
    (row) =>
      (ours && row.pid === root.pid) ||
      (sessionIsOurs && root.pid > 1 && row.sid === root.pid) ||
      (ours && row.tty !== undefined && row.tty === top.tty) ||
      ever.get(row.pid) === row.procStart,
  );
  const related = below(seeds);
  // A server that a marked process started hands the mark to panes of the user: neither it nor they are the agent's.
  const hosted = below(table.filter((row) => row.pid === host?.pid && row.procStart === host.procStart));
  const beyond = below([...hosted].filter(isTmuxServer));
  const isForeign = (row: ProcessRow): boolean => servers.has(row) && (!hosted.has(row) || beyond.has(row));
  const markedRows = table.filter((row) => !related.has(row) && !isForeign(row) && marked(row.pid));
  const foreign = below([...related].filter(isTmuxServer));
  return [...below([...related, ...markedRows])].filter(
    (row) => row.pid !== ownPid && row.pid > 1 && !isTmuxServer(row) && !foreign.has(row),
  );
}
