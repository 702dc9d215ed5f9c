import { dirname } from "node:path";
import { pause, steadyNow } from "../os/clock.ts";
import { entryOf } from "../os/files/fs.ts";
import { isPidInUse, livenessOf, type RecordedProcess } from "../os/process/identity.ts";
import { isTmuxServer, processTable } from "../os/process/process-table.ts";
import { shellWord } from "../text/shell-quote.ts";
import { TmuxError } from "./error.ts";

/** Maximum milliseconds that a server takes to end. */
const ENDING_MS = 1_000;
const ENDING_STEP_MS = 20;

/**
 * True if the process of a server keeps running although a client reports its end: its socket was deleted, or the client is older
 * than tmux 3.6 and the server is not. Waits for a server that is about to end.
 */
export async function keepsRunning(server: RecordedProcess): Promise<boolean> {
  const start = steadyNow();
  // Without /proc, livenessOf forks a program: call it only before the wait and after it.
  if (!runs(server)) return false;
  while (steadyNow() - start <= ENDING_MS) {
    if (!isPidInUse(server.pid)) return false;
    await pause(ENDING_STEP_MS);
  }
  return runs(server);
}

function runs(server: RecordedProcess): boolean {
  return livenessOf(server) === "alive" && isServer(server);
}

/** A pid without a start time may belong to another program by now, which a signal would end. */
function isServer({ pid, procStart }: RecordedProcess): boolean {
  return procStart !== undefined || processTable().some((row) => row.pid === pid && isTmuxServer(row));
}

/** True if a server runs although its socket was deleted. @param path of its socket */
export function hasLostSocket(path: string, server: RecordedProcess): boolean {
  return entryOf(path) === undefined && runs(server);
}

/** Creates the error for a running server that no client reaches. @param path of its socket; undefined if unknown */
export function unreachable(server: RecordedProcess, path: string | undefined): TmuxError {
  return path !== undefined && entryOf(path) === undefined ? lostSocket(server, path) : otherProtocol(server);
}

/** Creates the error for a running server whose socket was deleted; SIGUSR1 makes it create the socket again. */
export function lostSocket({ pid }: RecordedProcess, path: string): TmuxError {
  const directory = dirname(path);
  const make = entryOf(directory) === undefined ? `mkdir -m 700 ${shellWord(directory)} && ` : "";
  return new TmuxError({
    kind: "unreachable",
    message: `The tmux server (process ${pid}) is running, but its socket ${path} was deleted: no client can reach its panes.`,
    hint: `Its panes and agents keep running. To restore the socket: ${make}kill -USR1 ${pid}`,
    done: "nothing",
    facts: { serverPid: pid, socket: path },
  });
}

/** Creates the error for a client that reports the end of a server whose process keeps running. */
function otherProtocol({ pid }: RecordedProcess): TmuxError {
  return new TmuxError({
    kind: "unreachable",
    message: `tmux cannot talk to its server (process ${pid}), which keeps running: the tmux on the PATH is probably older.`,
    hint: "Its panes stay open. Put the tmux that started the server first on the PATH, then run the command again.",
    done: "nothing",
    facts: { serverPid: pid },
  });
}
