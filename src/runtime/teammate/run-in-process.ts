import type { RunWorker, WorkerStart } from "../../backend/in-process/resident-agent.ts";
import { announceReady } from "../../launch/announce-ready.ts";
import type { AnyCall } from "../../terminal/call.ts";
import type { Io } from "../../terminal/io.ts";
import { prepareTeammate } from "./become-ready.ts";
import { runTeammate } from "./teammate.ts";

/** How what teammates show in their lead's process is drawn. */
interface InsideScreen {
  /** Columns of the lead's terminal now. */
  width(): number;
  /** No colours. */
  readonly plain: boolean;
}

/** Runs teammates in the process of this call: each as its own process would, but for what it shares with the lead. */
export function runInside(call: AnyCall, screen: InsideScreen): RunWorker {
  return async (start) => {
    const io = ioOf(call.io, start);
    const { write, reportState, connect, isOver } = start;
    const ready = await prepareTeammate(io, { ...screen, write, reportState, connect, isOver });
    announceReady(ready.ref.paths.agent(ready.name));
    return runTeammate({ ...call, io }, ready);
  };
}

/** The world outside as that teammate sees it: no terminal, its own arguments, environment, directory and end. */
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
    bytesIn: nothing,
    bytesOut: drop,
    interruption: () => signal,
  };
}

async function* nothing(): AsyncIterable<Uint8Array> {
  // What the lead's terminal sends is not for it.
}

async function drop(bytes: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of bytes);
}
