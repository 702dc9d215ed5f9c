import type { WaitingProgram } from "../os/process/spawn.ts";
import { isNoServer, isUnreachable, type TmuxServer } from "./server.ts";

/** Maximum number of waits before the watch gives up: while the server runs, another program ends a wait only by mistake. */
const MAX_WAITS = 5;

/** A tmux client that waits for the end of a server. It has no session and appears in no list of clients. */
export interface ServerWatch {
  /** Resolves within milliseconds after the server has ended; never if the watch is closed first or gives up. Never rejects. */
  readonly gone: Promise<void>;
  /** Ends the client through its channel: a killed client would leave its wait in the server. */
  close(): Promise<void>;
}

/**
 * Watches for the end of a server with `wait-for`, which needs no polling. If this process is killed, the client keeps running until
 * {@link endWatch} is called for its channel or the server ends.
 * @param channel a unique name
 * @param serverPid the watched server; another server at its socket means that this one has ended
 * @param onClient receives the process of each new waiting client
 */
export function watchServer(
  server: TmuxServer,
  channel: string,
  serverPid: number,
  onClient: (client: NonNullable<WaitingProgram["process"]>) => void,
): ServerWatch {
  const start = (): WaitingProgram => {
    const program = server.wait(channel);
    if (program.process !== undefined) onClient(program.process);
    return program;
  };
  let waiting = start();
  let closed = false;
  const watch = async (): Promise<boolean> => {
    for (let waits = 1; waits <= MAX_WAITS; waits += 1) {
      await waiting.ended;
      if (closed) return false;
      // A signalled channel and a killed server end the client in the same way, so check the server.
      if (!(await isRunning(server, serverPid))) return true;
      if (closed) return false;
      waiting = start();
    }
    return false;
  };
  const gone = new Promise<void>((resolve) => {
    void watch().then(
      (isGone) => isGone && resolve(),
      // No client could be started, for example without memory: the watch gives up.
      () => undefined,
    );
  });
  return {
    gone,
    async close() {
      if (closed) return;
      closed = true;
      await endWatch(server, channel, () => waiting.end());
      // Keep this process alive until the client has ended, so that this promise resolves.
      waiting.hold();
      await waiting.ended;
    },
  };
}

/**
 * Ends all clients that wait on a channel; a missing server is not an error.
 * @param endClient ends the client itself if no signal of the channel reaches its server, because the socket was deleted
 * @throws TmuxError
 */
export async function endWatch(server: TmuxServer, channel: string, endClient: () => void): Promise<void> {
  try {
    await server.call(["wait-for", "-S", channel]);
  } catch (error) {
    if (isUnreachable(error)) endClient();
    else if (!isNoServer(error)) throw error;
  }
}

async function isRunning(server: TmuxServer, serverPid: number): Promise<boolean> {
  try {
    // A user's hook can print more lines.
    return Number.parseInt(await server.call(["display-message", "-p", "#{pid}"]), 10) === serverPid;
  } catch (error) {
    // A server that hangs, refuses or has lost its socket still runs.
    return !isNoServer(error);
  }
}
