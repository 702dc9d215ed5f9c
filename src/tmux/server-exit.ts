import type { WaitingProgram } from "../os/process/spawn.ts";
import { isNoServer, type TmuxServer } from "./server.ts";

/** How often in a row somebody else may end the wait before it is given up: nobody but a mistake does so twice. */
const MAX_WAITS = 5;

/** A client that waits for the end of a server, without a session and in no list of clients. */
export interface ServerWatch {
  /** Resolves once the server is gone, within milliseconds; never when the watch is closed before. Never rejects. */
  readonly gone: Promise<void>;
  /** Ends it, by its channel: what is killed instead leaves its half with the server. */
  close(): Promise<void>;
}

/**
 * Learns of the end of a server by `wait-for`, which costs nothing while it waits. The client outlives this process when
 * that is killed, until {@link endWatch} is called for its channel or the server ends.
 * @param channel a name that nobody else uses
 * @param serverPid the server that is meant; another one at its socket means that this one is gone
 * @param told hears which client waits, each time that it is another
 */
export function watchServer(
  server: TmuxServer,
  channel: string,
  serverPid: number,
  told: (client: NonNullable<WaitingProgram["process"]>) => void,
): ServerWatch {
  const start = (): WaitingProgram => {
    const program = server.wait(channel);
    if (program.process !== undefined) told(program.process);
    return program;
  };
  let waiting = start();
  let closed = false;
  const watch = async (): Promise<boolean> => {
    for (let waits = 1; waits <= MAX_WAITS; waits += 1) {
      await waiting.ended;
      if (closed) return false;
      // It ends alike when its channel is signalled and when the server is killed: only a look tells.
      if (!(await isRunning(server, serverPid))) return true;
      if (closed) return false;
      waiting = start();
    }
    return false;
  };
  const gone = new Promise<void>((resolve) => {
    void watch().then((isGone) => isGone && resolve());
  });
  return {
    gone,
    async close() {
      if (closed) return;
      closed = true;
      await endWatch(server, channel);
      // Nothing else may keep this process alive by now, and whoever waits for us would never hear.
      waiting.hold();
      await waiting.ended;
    },
  };
}

/** Ends whoever waits on a channel; that the server is gone is no failure. @throws TmuxError */
export async function endWatch(server: TmuxServer, channel: string): Promise<void> {
  try {
    await server.call(["wait-for", "-S", channel]);
  } catch (error) {
    if (!isNoServer(error)) throw error;
  }
}

async function isRunning(server: TmuxServer, serverPid: number): Promise<boolean> {
  try {
    return (await server.call(["display-message", "-p", "#{pid}"])).trim() === String(serverPid);
  } catch (error) {
    // One that hangs or refuses is there all the same.
    return !isNoServer(error);
  }
}
