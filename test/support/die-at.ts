import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

/** The calls by which a program changes what the files of a team say; of locks, only how they are given back. */
const CHANGES = ["writeSync", "renameSync", "linkSync", "unlinkSync", "rmSync"] as const;

/** From now on this process ends by SIGKILL right before its `n`-th change of the file system; 0 never. */
export function dieAtChange(n: number): void {
  let count = 0;
  for (const name of CHANGES) {
    const real = fs[name] as (...args: unknown[]) => unknown;
    Object.assign(fs, {
      [name]: (...args: unknown[]) => {
        count += 1;
        if (count === n) process.kill(process.pid, "SIGKILL");
        return real(...args);
      },
    });
  }
  syncBuiltinESMExports();
}
