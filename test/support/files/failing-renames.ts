import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { onTestFinished } from "vitest";

/**
 * Makes `fs.renameSync` fail as on a full disk, for root too, until it is restored or the test ends.
 * @param fails decides by the temporary file and the file that it would replace
 * @returns a function that restores it
 */
export function failingRenames(fails: (from: string, to: string) => boolean): () => void {
  const { renameSync } = fs;
  const use = (call: typeof renameSync): void => {
    fs.renameSync = call;
    syncBuiltinESMExports();
  };
  const restore = (): void => use(renameSync);
  onTestFinished(restore);
  use((from, to) => {
    if (!fails(String(from), String(to))) {
      renameSync(from, to);
      return;
    }
    const message = `ENOSPC: no space left on device, rename '${from}' -> '${to}'`;
    throw Object.assign(new Error(message), { code: "ENOSPC", syscall: "rename", path: String(from) });
  });
  return restore;
}
