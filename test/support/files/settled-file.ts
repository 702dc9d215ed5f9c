import { utimesSync, writeFileSync } from "node:fs";

/** The age of the file in seconds: readers wait for the writer of a broken file only while the file is younger. */
const AGE_S = 60;

/** Writes a file with an old modification time: readers of a broken file then do not wait for its writer. */
export function writeSettled(path: string, text: string): void {
  writeFileSync(path, text);
  const then = Date.now() / 1000 - AGE_S;
  utimesSync(path, then, then);
}
