/**
 * Bundles the benches and their programs into files that Node runs, in a temporary directory, and runs them.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "rolldown";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const PROGRAMS = path.join(ROOT, "scripts/bench/programs");

const directory = fs.mkdtempSync(path.join(os.tmpdir(), "teams-bench-"));
try {
  const programs = fs.readdirSync(PROGRAMS).map((file) => [path.parse(file).name, path.join(PROGRAMS, file)]);
  await build({
    cwd: ROOT,
    input: Object.fromEntries([["main", path.join(ROOT, "scripts/bench/main.ts")], ...programs]),
    platform: "node",
    external: /^blessed($|\/)/,
    resolve: { mainFields: ["module", "main"] },
    logLevel: "warn",
    output: {
      dir: directory,
      format: "es",
      entryFileNames: "[name].mjs",
      chunkFileNames: "[name]-[hash].mjs",
    },
  });
  const words = [path.join(directory, "main.mjs"), path.join(ROOT, "dist"), ...process.argv.slice(2)];
  const child = spawn(process.execPath, words, { stdio: "inherit", env: ownEnvironment() });
  // Ctrl-C reaches the child too; it cleans up and ends, and this process after it.
  for (const signal of ["SIGHUP", "SIGINT", "SIGTERM"]) process.on(signal, () => child.kill(signal));
  const [code] = await once(child, "exit");
  process.exitCode = code ?? 1;
} finally {
  fs.rmSync(directory, { recursive: true, force: true });
}

/** Keeps the user's own teams, tmux server and key away from the benches. */
function ownEnvironment() {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(TMUX|TMUX_PANE|TEAMS_|CLAUDE|ANTHROPIC_)/.test(name)),
  );
}
