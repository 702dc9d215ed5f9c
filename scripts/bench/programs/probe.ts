/**
 * Loaded into a Node process before anything else (`--import`): writes a line into `$TEAMS_BENCH_PROBE` for each process that
 * it starts (`fork`) and each timer that it sets (`timer 5000`).
 */
import { createHook } from "node:async_hooks";
import childProcess from "node:child_process";
import { appendFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";

const log = process.env.TEAMS_BENCH_PROBE;
if (log !== undefined) {
  const say = (line: string): void => appendFileSync(log, `${line}\n`);
  createHook({
    init(_id, type, _trigger, resource) {
      if (type === "PROCESSWRAP") say("fork");
      if (type === "Timeout") say(`timer ${(resource as { _idleTimeout: number })._idleTimeout}`);
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
