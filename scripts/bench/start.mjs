/** Runs the benches and their programs. */
import fs from "node:fs";
import path from "node:path";
import { ROOT, runBundled } from "../lib/run-bundled.mjs";

const PROGRAMS = path.join(ROOT, "scripts/bench/programs");

const programs = fs.readdirSync(PROGRAMS).map((file) => [path.parse(file).name, path.join(PROGRAMS, file)]);
await runBundled(
  { main: "scripts/bench/main.ts", ...Object.fromEntries(programs) },
  {
    words: [path.join(ROOT, "dist"), ...process.argv.slice(2)],
    env: ownEnvironment(),
    external: /^blessed($|\/)/,
  },
);

/** Keeps the user's own teams, tmux server and key away from the benches. */
function ownEnvironment() {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(TMUX|TMUX_PANE|TEAMS_|CLAUDE|ANTHROPIC_)/.test(name)),
  );
}
