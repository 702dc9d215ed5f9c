import { utimesSync, writeFileSync } from "node:fs";

/** Seconds; a reader waits for the writer of a broken file only while the file is younger. */
const AGE_S = 60;

/** Writes a file with an old time, so that readers of a broken one do not wait for its writer. */
export function writeSettled(path: string, text: string): void {
  writeFileSync(path, text);
  const then = Date.now() / 1000 - AGE_S;
  utimesSync(path, then, then);
}
