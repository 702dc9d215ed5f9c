/**
 * Loaded into a Node process first (`--import`): appends a line to `$TEAMS_BENCH_PROBE` for each started
 * process (`fork`), and each timer that is set or fires (`timer 5000`).
 */
import { createHook } from "node:async_hooks";
import childProcess from "node:child_process";
import { appendFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";

const log = process.env.TEAMS_BENCH_PROBE;
if (log !== undefined) {
  const say = (line: string): void => appendFileSync(log, `${line}\n`);
  /** Milliseconds of the timers, by their async ids. */
  const timers = new Map<number, number>();
  createHook({
    init(id, type, _trigger, resource) {
      if (type === "PROCESSWRAP") say("fork");
      if (type !== "Timeout") return;
      const ms = (resource as { _idleTimeout: number })._idleTimeout;
      timers.set(id, ms);
      say(`timer ${ms}`);
    },
    before(id) {
      const ms = timers.get(id);
      if (ms !== undefined) say(`timer ${ms}`);
    },
    destroy(id) {
      timers.delete(id);
    },
  }).enable();
  // These start a process without an async resource.
  for (const name of ["spawnSync", "execFileSync", "execSync"] as const) {
    const original = childProcess[name] as (...args: unknown[]) => unknown;
    Object.assign(childProcess, {
      [name]: (...args: unknown[]) => {
        say("fork");
        return original(...args);
      },
    });
  }
  syncBuiltinESMExports();
}
