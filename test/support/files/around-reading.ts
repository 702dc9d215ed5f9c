import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { onTestFinished } from "vitest";

/** Calls `act` once, right before or after this process's next read of a file: another program could act there. */
function onReading(file: string, when: "before" | "after", act: () => void): void {
  const { readFileSync } = fs;
  const use = (call: typeof readFileSync): void => {
    fs.readFileSync = call;
    syncBuiltinESMExports();
  };
  onTestFinished(() => use(readFileSync));
  const watching = (path: unknown, options: unknown): unknown => {
    const read = (): unknown => Reflect.apply(readFileSync, fs, [path, options]);
    if (path !== file) return read();
    use(readFileSync);
    if (when === "before") act();
    const content = read();
    if (when === "after") act();
    return content;
  };
  use(watching as typeof readFileSync);
}

/** Calls `act` right before this process's next read of the file. */
export function beforeReading(file: string, act: () => void): void {
  onReading(file, "before", act);
}

/** Calls `act` right after this process's next read of the file. */
export function afterReading(file: string, act: () => void): void {
  onReading(file, "after", act);
}
