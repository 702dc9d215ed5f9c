import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

/** Builds the command line once for all end-to-end tests. */
export function setup(): void {
  const root = fileURLToPath(new URL("../../..", import.meta.url));
  execFileSync(process.execPath, ["scripts/build.mjs"], {
    cwd: root,
    stdio: ["ignore", "ignore", "inherit"],
  });
}
