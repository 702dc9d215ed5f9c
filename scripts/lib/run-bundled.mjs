/**
 * Runs TypeScript programs of scripts/ with every supported Node: bundles them into files in a temporary directory, which exists while
 * the program `main` runs.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "rolldown";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/**
 * Bundles programs, runs the program `main`, and sets the exit status to its status.
 * @param programs the source file of each program by its name, relative to the checkout
 * @param options.words the arguments of `main`
 * @param options.env its environment
 * @param options.external packages that are not bundled
 * @param options.mode the mode of the temporary directory
 */
export async function runBundled(programs, { words, env = process.env, external = [], mode = 0o700 }) {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), "teams-scripts-"));
  try {
    await build({
      cwd: ROOT,
      input: programs,
      platform: "node",
      external,
      resolve: { mainFields: ["module", "main"] },
      logLevel: "warn",
      output: {
        dir: directory,
        format: "es",
        entryFileNames: "[name].mjs",
        chunkFileNames: "[name]-[hash].mjs",
      },
    });
    fs.chmodSync(directory, mode);
    const child = spawn(process.execPath, [path.join(directory, "main.mjs"), ...words], {
      stdio: "inherit",
      env,
    });
    // Ctrl-C reaches the child too; it cleans up and ends, and then this process ends.
    for (const signal of ["SIGHUP", "SIGINT", "SIGTERM"]) process.on(signal, () => child.kill(signal));
    const [code] = await once(child, "exit");
    process.exitCode = code ?? 1;
  } finally {
    fs.rmSync(directory, { recursive: true, force: true });
  }
}
