import { execFileSync } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
/** The inputs of the build, relative to the checkout. */
const SOURCES = [
  "src",
  "scripts/build.mjs",
  "scripts/lib",
  "scripts/tsconfig.types.json",
  "package.json",
  "package-lock.json",
];
/** The files that a complete build writes last. A build without types leaves the types of an earlier build, or none. */
const BUILT = ["dist/teams.cjs", "dist/index.d.mts"];

/** Builds the program, unless it is newer than its sources. Tests that start agents or read built-in playbooks need it. */
export function setup(): void {
  const built = Math.min(...BUILT.map(timeOf));
  if (SOURCES.every((path) => newestOf(join(ROOT, path)) < built)) return;
  execFileSync(process.execPath, ["scripts/build.mjs"], {
    cwd: ROOT,
    stdio: ["ignore", "ignore", "inherit"],
  });
}

/** Returns the time of a built file; 0 if it does not exist. */
function timeOf(path: string): number {
  return statSync(join(ROOT, path), { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/** Returns the time of the newest file or directory at or below a path; the time of a directory shows a deleted file. */
function newestOf(path: string): number {
  const stat = statSync(path);
  if (!stat.isDirectory()) return stat.mtimeMs;
  return Math.max(stat.mtimeMs, ...readdirSync(path).map((name) => newestOf(join(path, name))));
}
