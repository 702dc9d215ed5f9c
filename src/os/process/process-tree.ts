import type { ChildProcess } from "node:child_process";
import { setImmediate as nextRound } from "node:timers/promises";
import { pause, steadyNow } from "../clock.ts";
import {
  descendants as allBelow,
  type EnvSnapshot,
  envSnapshot,
  isTmuxServer,
  ownPid,
  type ProcessRow,
  processTable,
  signalProcess,
} from "./process-table.ts";

/** Environment variable that marks everything an agent starts. Its value is the instance: one start of one agent. */
export const INSTANCE_VARIABLE = "TEAMS_INSTANCE";

/** Environment variable that marks everything a command starts. Its value is one run of one command. */
export const COMMAND_VARIABLE = "TEAMS_COMMAND";

/** Milliseconds that a command has from SIGTERM to SIGKILL. */
const COMMAND_GRACE_MS = 500;
/** After SIGKILL only the kernel takes time. */
const KILL_WAIT_MS = 2000;
/** How often the process table is read while processes are expected to end. */
export const POLL_MS = 25;

interface TreeRoot {
  /** The agent's launch script. */
  readonly root: { readonly pid: number; readonly procStart: string };
  /** The process that contains an in-process agent: its marked descendants belong to the tree too. */
  readonly host?: { readonly pid: number; readonly procStart: string };
  /** The instance's uuid, which everything it started carries in its environment. */
  readonly marker: string;
}

/**
 * Ends an agent's process and everything it started: SIGTERM, and SIGKILL after the grace period. Each signal goes to
 * descendants, session members and marked processes, which every poll looks up again. A process that is started after SIGTERM to
 * clean up may use the rest of the grace period. Best effort: a process escapes if it dropped the marker, left the session and
 * lost its parent (docs/endings.md). macOS has no session ids here, so the process group and the terminal replace them.
 * @returns the pids that are still alive at the end
 */
export async function endTree(
  tree: TreeRoot,
  { graceMs }: { readonly graceMs: number },
): Promise<{ readonly left: number[] }> {
  const ever = new Map<number, string>();
  const entry = `${INSTANCE_VARIABLE}=${tree.marker}`;
  const members: FindMembers = (table, env) => {
    const found = treeMembers(table, tree, ever, (pid) => env(pid, entry));
    for (const row of found) ever.set(row.pid, row.procStart);
    return found;
  };
  return { left: await terminate(members, graceMs) };
}

/**
 * Ends a process that teams did not start, and its descendants: SIGTERM, and SIGKILL after the grace period. Other programs of its
 * terminal are left alone: a person's shell may have started it.
 * @returns the pids that are still alive at the end
 */
export async function endDescendants(
  root: { readonly pid: number; readonly procStart: string },
  { graceMs }: { readonly graceMs: number },
): Promise<readonly number[]> {
  const ever = new Map<number, string>();
  const members: FindMembers = (table) => {
    const seeds = table.filter(
      (row) =>
        (row.pid === root.pid && row.procStart === root.procStart) || ever.get(row.pid) === row.procStart,
    );
    const found = [...allBelow(table, seeds)].filter((row) => row.pid !== ownPid && !isTmuxServer(row));
    for (const row of found) ever.set(row.pid, row.procStart);
    return found;
  };
  return terminate(members, graceMs);
}

/** The program of a command, which leads its process group and session. */
type Leader = Pick<ChildProcess, "pid" | "exitCode" | "signalCode">;

/**
 * Ends a command and everything it started: SIGTERM, and SIGKILL after 500 ms. Each signal goes to its process group,
 * its session and the marked processes, which every poll looks up again. A process escapes if it dropped the marker and
 * left the session.
 * @param marker value of {@link COMMAND_VARIABLE} in its environment
 * @returns the pids that are still alive at the end
 */
export function endCommand(leader: Leader, marker: string): Promise<readonly number[]> {
  const entry = `${COMMAND_VARIABLE}=${marker}`;
  return terminate(
    (table, env) => commandMembers(table, groupOf(table, leader), (pid) => env(pid, entry)),
    COMMAND_GRACE_MS,
  );
}

/**
 * Ends the rest of a command whose parent died: all processes that carry its marker.
 * @param marker value of {@link COMMAND_VARIABLE}
 * @returns the pids that are still alive at the end
 */
export function endMarked(marker: string): Promise<readonly number[]> {
  const entry = `${COMMAND_VARIABLE}=${marker}`;
  return terminate(
    (table, env) => commandMembers(table, NO_GROUP, (pid) => env(pid, entry)),
    COMMAND_GRACE_MS,
  );
}

/** Returns whether a process carries the marker of a command. */
export function isMarkedRunning(marker: string): boolean {
  const env = envSnapshot();
  const entry = `${COMMAND_VARIABLE}=${marker}`;
  return commandMembers(processTable(), NO_GROUP, (pid) => env(pid, entry)).length > 0;
}

/** No process has this group or session. */
const NO_GROUP = -1;

/** Returns the group of a command. Once its leader has ended, another process may have got the pid, and lead a group of that number. */
function groupOf(table: readonly ProcessRow[], { pid = NO_GROUP, exitCode, signalCode }: Leader): number {
  const hasEnded = exitCode !== null || signalCode !== null;
  return hasEnded && table.some((row) => row.pid === pid) ? NO_GROUP : pid;
}

type FindMembers = (table: readonly ProcessRow[], env: EnvSnapshot) => readonly ProcessRow[];

/** A tree or a command that is being ended. */
interface Termination {
  readonly members: FindMembers;
  /** Receives the pids that survived both signals. */
  readonly resolve: (left: number[]) => void;
  readonly reject: (error: unknown) => void;
  signal: "SIGTERM" | "SIGKILL";
  /** When the time of the signal is up, by the steady clock. */
  deadline: number;
  /** The processes that got the signal, by pid and start time. */
  readonly signalled: Set<string>;
}

/** All terminations of this process. Members often end together, and reading the process table is slow, so one poll serves all. */
const terminations = new Set<Termination>();
let isRunning = false;

/** @returns the pids that survived both signals */
function terminate(members: FindMembers, graceMs: number): Promise<number[]> {
  return new Promise((resolve, reject) => {
    const deadline = steadyNow() + graceMs;
    terminations.add({ members, resolve, reject, signal: "SIGTERM", deadline, signalled: new Set() });
    if (!isRunning) void endAll();
  });
}

/**
 * Polls the process table until all processes have ended or their time is up. Never rejects: if the table cannot be read,
 * all callers get that error.
 */
async function endAll(): Promise<void> {
  isRunning = true;
  // Lets a caller that ends several trees at once add all of them before the first poll.
  await nextRound();
  while (terminations.size > 0) {
    let isAnyLeft = false;
    try {
      const [table, env] = [processTable(), envSnapshot()];
      for (const one of terminations) isAnyLeft = signalRest(one, table, env) || isAnyLeft;
    } catch (error) {
      for (const { reject } of terminations) reject(error);
      terminations.clear();
    }
    if (isAnyLeft) await pause(POLL_MS);
  }
  isRunning = false;
}

/**
 * Signals each process once, including those that appear later. SIGTERM spares processes that a signalled one starts to clean up.
 * SIGKILL follows after the time of SIGTERM, or when none is left: even then the table is read again, because /proc is not read
 * atomically and a fork may have been missed.
 * @returns whether a process is left to wait for
 */
function signalRest(one: Termination, table: readonly ProcessRow[], env: EnvSnapshot): boolean {
  const rows = one.members(table, env);
  const pids = new Set(rows.map(({ pid }) => pid));
  const isFirst = one.signalled.size === 0;
  for (const row of rows) {
    const key = `${row.pid} ${row.procStart}`;
    if (one.signalled.has(key)) continue;
    if (one.signal === "SIGTERM" && !isFirst && pids.has(row.ppid)) continue;
    signalProcess(row.pid, one.signal);
    one.signalled.add(key);
  }
  if (rows.length > 0 && steadyNow() < one.deadline) return true;
  if (one.signal === "SIGKILL") {
    terminations.delete(one);
    one.resolve(rows.map(({ pid }) => pid));
    return false;
  }
  one.signal = "SIGKILL";
  one.deadline = steadyNow() + KILL_WAIT_MS;
  one.signalled.clear();
  return false;
}

/**
 * Returns the processes in the table that belong to the tree. Pure except for `marked`.
 * @param ever processes found earlier, by pid and start time: an orphan whose parent has just ended still belongs
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
  // A session id is not reused as a pid while the session lives. Another process with the root's pid means that our
  // session is over.
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
  // A tmux server that a marked process started passes the marker to panes of the user: neither belongs to the agent.
  const hosted = below(table.filter((row) => row.pid === host?.pid && row.procStart === host.procStart));
  const beyond = below([...hosted].filter(isTmuxServer));
  const isForeign = (row: ProcessRow): boolean => servers.has(row) && (!hosted.has(row) || beyond.has(row));
  const markedRows = table.filter((row) => !related.has(row) && !isForeign(row) && marked(row.pid));
  const foreign = below([...related].filter(isTmuxServer));
  return [...below([...related, ...markedRows])].filter(
    (row) => row.pid !== ownPid && row.pid > 1 && !isTmuxServer(row) && !foreign.has(row),
  );
}

/**
 * Returns the processes in the table that a command started. Pure except for `marked`. A tmux server that the command started
 * passes the marker to every later pane of the user, so the server and its descendants are excluded.
 */
function commandMembers(
  table: readonly ProcessRow[],
  group: number,
  marked: (pid: number) => boolean,
): readonly ProcessRow[] {
  const isOfGroup = (row: ProcessRow): boolean => row.pgid === group || row.sid === group;
  const found = table.filter(
    (row) => row.pid !== ownPid && row.pid > 1 && (isOfGroup(row) || marked(row.pid)),
  );
  const foreign = allBelow(
    table,
    found.filter((row) => isTmuxServer(row) && !isOfGroup(row)),
  );
  return found.filter((row) => !foreign.has(row));
}
