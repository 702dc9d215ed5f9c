/**
 * Loaded into a Node process first (`--import`): appends a line to `$TEAMS_BENCH_PROBE` for each started
 * process (`fork`), and each timer that is set or fires (`timer 5000`).
 */
import { createHook } from "node:async_hooks";
import childProcess from "node:child_process";
import { appendFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";

const file = process.env.TEAMS_BENCH_PROBE;
if (file !== undefined) {
  const log = (line: string): void => appendFileSync(file, `${line}\n`);
  /** Milliseconds of the timers, by their async ids. */
  const timers = new Map<number, number>();
  createHook({
    init(id, type, _trigger, resource) {
      if (type === "PROCESSWRAP") log("fork");
      if (type !== "Timeout") return;
      const ms = (resource as { _idleTimeout: number })._idleTimeout;
      timers.set(id, ms);
      log(`timer ${ms}`);
    },
    before(id) {
      const ms = timers.get(id);
      if (ms !== undefined) log(`timer ${ms}`);
    },
    destroy(id) {
      timers.delete(id);
    },
  }).enable();
  // These functions start a process without an async resource.
  for (const name of ["spawnSync", "execFileSync", "execSync"] as const) {
    const original = childProcess[name] as (...args: unknown[]) => unknown;
    Object.assign(childProcess, {
      [name]: (...args: unknown[]) => {
        log("fork");
        return original(...args);
      },
    });
  }
  syncBuiltinESMExports();
}
