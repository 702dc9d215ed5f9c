import type { RunWorker } from "../../backend/in-process/resident-agent.ts";
import { announceReady } from "../../launch/announce-ready.ts";
import type { AnyCall } from "../../terminal/call.ts";
import { capturedIo } from "../../terminal/captured-io.ts";
import { prepareTeammate } from "./become-ready.ts";
import { runTeammate } from "./teammate.ts";

/** How the output of in-process teammates is drawn. */
interface HostScreen {
  /** Current columns of the lead's terminal. */
  width(): number;
  /** Current rows of the lead's terminal; no limit if omitted. */
  height?(): number;
  /** No colours. */
  readonly plain: boolean;
}

/** Returns a function that runs a teammate in this process as in its own, except for what it shares with the lead. */
export function inProcessRunner(call: AnyCall, screen: HostScreen): RunWorker {
  return async (start) => {
    const { request, signal, write, reportState, connect, isOver } = start;
    const { argv, env, cwd } = request;
    const io = capturedIo(call.io, { argv, env, cwd, write, signal });
    const ready = await prepareTeammate(io, { ...screen, write, reportState, connect, isOver });
    announceReady(ready.ref.paths.agent(ready.name));
    return runTeammate({ ...call, io }, ready);
  };
}
