import type { RunWorker, WorkerStart } from "../../backend/in-process/resident-agent.ts";
import { announceReady } from "../../launch/announce-ready.ts";
import type { AnyCall } from "../../terminal/call.ts";
import type { Io } from "../../terminal/io.ts";
import { prepareTeammate } from "./become-ready.ts";
import { runTeammate } from "./teammate.ts";

/** How the output of in-process teammates is drawn. */
interface HostScreen {
  /** Current columns of the lead's terminal. */
  width(): number;
  /** No colours. */
  readonly plain: boolean;
}

/** Returns a function that runs a teammate in this process as in its own, except for what it shares with the lead. */
export function inProcessRunner(call: AnyCall, screen: HostScreen): RunWorker {
  return async (start) => {
    const io = ioOf(call.io, start);
    const { write, reportState, connect, isOver } = start;
    const ready = await prepareTeammate(io, { ...screen, write, reportState, connect, isOver });
    announceReady(ready.ref.paths.agent(ready.name));
    return runTeammate({ ...call, io }, ready);
  };
}

/** Returns the teammate's io: no terminal, and its own arguments, environment, directory and end signal. */
function ioOf({ program }: Io, { request, signal, write }: WorkerStart): Io {
  return {
    argv: request.argv,
    env: request.env,
    cwd: request.cwd,
    program,
    terminal: { stdin: false, stdout: false, stderr: false },
    columns: undefined,
    rows: undefined,
    out: write,
    err: write,
    readStdin: () => Promise.resolve(""),
    readLine: () => Promise.resolve(undefined),
    bytesIn: noInput,
    bytesOut: discard,
    interruption: () => signal,
  };
}

async function* noInput(): AsyncIterable<Uint8Array> {
  // Input of the lead's terminal is not for the teammate.
}

async function discard(bytes: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of bytes);
}
