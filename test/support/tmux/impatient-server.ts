import { spawnSync } from "node:child_process";
import { setImmediate as nextRound } from "node:timers/promises";
import { pause } from "../../../src/os/clock.ts";
import { processTable } from "../../../src/os/process/process-table.ts";
import { run as runProgram } from "../../../src/os/process/run.ts";
import { type TmuxServer, tmuxServer } from "../../../src/tmux/server.ts";
import { eventually } from "../timing/eventually.ts";
import type { PrivateTmux } from "./private-tmux.ts";

/** A tmux command for a user's hook: it notes that it waits, then waits forever. */
export const WAITS = "set-option -g -a @waits x ; wait-for never";

/** Milliseconds for this process to read the output of a client. */
const READ_MS = 1_000;
/** The server asks its client to open its output, then sends the output; one more step for a version that asks twice. */
const STEPS = 3;
/** Rounds of this process's event loop to read available output and the exit of a client. */
const ROUNDS = 10;

/** Returns a test's server whose calls time out only after a user's hook has begun to wait, by {@link WAITS}. */
export function impatientServer(t: PrivateTmux): TmuxServer {
  const waiting = (): number => t.tmux("show-options", "-g", "-q", "-v", "@waits").length;
  const run: typeof runProgram = async (file, args, { timeoutMs: _, ...options } = {}) => {
    const before = waiting();
    const over = new AbortController();
    let isAnswered = false;
    const answer = runProgram(file, args, { ...options, signal: over.signal }).finally(() => {
      isAnswered = true;
    });
    await eventually("an answer, or a hook that waits", () => isAnswered || waiting() > before);
    for (let step = 0; step < STEPS && !isAnswered; step += 1) {
      // The server has done its part by the time that it answers another client.
      waiting();
      await eventually("an answer, or a client that waits", () => isAnswered || !isClientBusy());
    }
    await Promise.race([answer, pause(READ_MS, over.signal)]);
    // This process may have stalled for as long, with the answer still in a pipe.
    for (let round = 0; round < ROUNDS && !isAnswered; round += 1) await nextRound();
    over.abort();
    const result = await answer;
    return result.failure === "aborted" ? { ...result, failure: "timed-out" } : result;
  };
  const { socket } = t.server;
  return tmuxServer({ ...(socket && { socket }), env: t.env, run });
}

/** Returns whether a client of this process is still processing its input. */
function isClientBusy(): boolean {
  const clients = processTable().filter(({ ppid, name }) => ppid === process.pid && /(^|\/)tmux/.test(name));
  if (clients.length === 0) return false;
  const pids = clients.map(({ pid }) => pid).join(",");
  const { stdout } = spawnSync("ps", ["-o", "state=", "-p", pids], { encoding: "utf8" });
  return stdout.split("\n").some((state) => /^\s*[RDU]/.test(state));
}
