import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

const CALLS = ["statSync", "lstatSync", "readFileSync", "openSync", "readdirSync", "renameSync"] as const;

/**
 * Runs `work` and returns the path of each `node:fs` call that looks up, reads or opens a file, and the target of each rename. The
 * calls themselves work as usual.
 */
export async function touchedPaths(work: () => unknown): Promise<readonly string[]> {
  const touched: string[] = [];
  const real = Object.fromEntries(CALLS.map((name) => [name, fs[name]]));
  const patched = Object.fromEntries(
    CALLS.map((name) => [
      name,
      (...args: [string, ...unknown[]]) => {
        touched.push(String(name === "renameSync" ? args[1] : args[0]));
        return (real[name] as (...all: unknown[]) => unknown)(...args);
      },
    ]),
  );
  Object.assign(fs, patched);
  syncBuiltinESMExports();
  try {
    await work();
  } finally {
    Object.assign(fs, real);
    syncBuiltinESMExports();
  }
  return touched;
}
