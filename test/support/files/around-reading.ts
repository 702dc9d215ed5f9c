import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { onTestFinished } from "vitest";

/** Acts like another program at the moment when this process reads a file for the next time, before or after it. */
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

/** Acts before this process reads the file for the next time. */
export function beforeReading(file: string, act: () => void): void {
  onReading(file, "before", act);
}

/** Acts after this process has read the file for the next time. */
export function afterReading(file: string, act: () => void): void {
  onReading(file, "after", act);
}
