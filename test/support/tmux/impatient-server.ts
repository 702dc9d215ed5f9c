import { pause } from "../../../src/os/clock.ts";
import { run as runProgram } from "../../../src/os/process/run.ts";
import { type TmuxServer, tmuxServer } from "../../../src/tmux/server.ts";
import { eventually } from "../timing/eventually.ts";
import type { PrivateTmux } from "./private-tmux.ts";

/** A command for a hook of the user's that waits for ever, and notes before that it does. */
export const WAITS = "set-option -g -a @waits x ; wait-for never";

/** Milliseconds for a client to print what it has received. */
const PRINT_MS = 1_000;

/** Returns the server of a test, whose calls time out only after a hook of the user's has begun to wait, with {@link WAITS}. */
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
    await Promise.race([answer, pause(PRINT_MS, over.signal)]);
    over.abort();
    const result = await answer;
    return result.failure === "aborted" ? { ...result, failure: "timed-out" } : result;
  };
  const { socket } = t.server;
  return tmuxServer({ ...(socket && { socket }), env: t.env, run });
}
