/**
 * Bundles the runner and its isolated part into files that Node runs, in a temporary directory, and runs the first.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "rolldown";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const HERE = path.join(ROOT, "scripts/interop");

const directory = fs.mkdtempSync(path.join(os.tmpdir(), "teams-interop-"));
try {
  await build({
    cwd: ROOT,
    input: { main: path.join(HERE, "main.ts"), inside: path.join(HERE, "inside.ts") },
    platform: "node",
    logLevel: "warn",
    output: {
      dir: directory,
      format: "es",
      entryFileNames: "[name].mjs",
      chunkFileNames: "[name]-[hash].mjs",
    },
  });
  // The isolated user reads the bundle.
  fs.chmodSync(directory, 0o755);
  const words = [path.join(directory, "main.mjs"), ROOT, ...process.argv.slice(2)];
  const child = spawn(process.execPath, words, { stdio: "inherit" });
  // Ctrl-C reaches the child too; it cleans up and ends, and this process after it.
  for (const signal of ["SIGHUP", "SIGINT", "SIGTERM"]) process.on(signal, () => child.kill(signal));
  const [code] = await once(child, "exit");
  process.exitCode = code ?? 1;
} finally {
  fs.rmSync(directory, { recursive: true, force: true });
}
