import { execFileSync } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
/** The inputs of the build, relative to the checkout. */
const SOURCES = ["src", "scripts/build.mjs", "scripts/lib", "package.json", "package-lock.json"];

/** Builds the program, unless it is newer than its sources. Tests that start agents or read built-in playbooks need it. */
export function setup(): void {
  const built = statSync(join(ROOT, "dist/teams.cjs"), { throwIfNoEntry: false });
  if (built !== undefined && SOURCES.every((path) => newestOf(join(ROOT, path)) < built.mtimeMs)) return;
  execFileSync(process.execPath, ["scripts/build.mjs"], {
    cwd: ROOT,
    stdio: ["ignore", "ignore", "inherit"],
  });
}

/** Returns the time of the newest file or directory at or below a path; the time of a directory shows a deleted file. */
function newestOf(path: string): number {
  const stat = statSync(path);
  if (!stat.isDirectory()) return stat.mtimeMs;
  return Math.max(stat.mtimeMs, ...readdirSync(path).map((name) => newestOf(join(path, name))));
}
