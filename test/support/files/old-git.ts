import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "./temporary-directory.ts";

/** Returns a PATH whose git behaves as before 2.45: it fetches missing objects although GIT_NO_LAZY_FETCH is set. */
export function pathWithOldGit(): string {
  const bin = temporaryDirectory();
  const real = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
  const script = `#!/bin/sh\nunset GIT_NO_LAZY_FETCH\nexec ${real} "$@"\n`;
  writeFileSync(join(bin, "git"), script, { mode: 0o755 });
  return `${bin}:${process.env.PATH}`;
}
