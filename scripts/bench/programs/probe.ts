/**
 * Loaded into a Node process before anything else (`--import`): writes a line into `$TEAMS_BENCH_PROBE` for each process that
 * it starts (`fork`), each timer that it sets and each time that one goes off (`timer 5000`).
 */
import { createHook } from "node:async_hooks";
import childProcess from "node:child_process";
import { appendFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";

const log = process.env.TEAMS_BENCH_PROBE;
if (log !== undefined) {
  const say = (line: string): void => appendFileSync(log, `${line}\n`);
  /** By the numbers of their resources: milliseconds of the timers. */
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
  // These start a process without such a resource.
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
