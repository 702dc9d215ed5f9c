/**
 * Runs the audit for scripts/demo in a private home, so that the user's teams are not touched, and removes
 * that home after the run.
 *
 *   node scripts/lib/demo-run.mjs <report> <true to keep the run's files>
 *
 * This process waits for the run, even after Ctrl-C: the run ends its team itself, and this process ends any
 * team that is left.
 */
import { spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

const TEAMS = fileURLToPath(new URL("../../dist/teams.cjs", import.meta.url));
/** Variables that change the demo for a user without a key, or name one of the user's teams. */
const FOREIGN = /^(TEAMS_(?!TMUX_SOCKET$|PLAYBOOK_SPEED$)|CLAUDE|ANTHROPIC_)/;
/** Milliseconds after which a team with a detached terminal is ended. */
const DETACHED_MS = 120_000;

const report = path.resolve(process.argv[2] ?? "AUDIT.md");
const keep = process.argv[3] === "true";
const team = `demo-${randomBytes(2).toString("hex")}`;
const home = fs.mkdtempSync(path.join(os.tmpdir(), "teams-demo-"));
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !FOREIGN.test(name)));
env.TEAMS_HOME = home;
env.XDG_RUNTIME_DIR = path.join(home, "runtime");

let interrupted = false;
const started = Date.now();
try {
  process.exitCode = await runAudit();
} finally {
  endTeams();
  if (keep) console.error(`The run's files are kept: TEAMS_HOME=${home}`);
  else fs.rmSync(home, { recursive: true, force: true });
}

/** Runs the audit from start to end. @returns the exit status of this process */
async function runAudit() {
  fs.mkdirSync(env.XDG_RUNTIME_DIR, { mode: 0o700 });
  if (!process.stdout.isTTY && env.TMUX === undefined) console.error(`To watch it: ${attachCommand()}`);
  const words = ["run", "--once", "--model", "scripted", "--team", team, "--report", report];
  const run = spawn(process.execPath, [TEAMS, ...words], { env, stdio: "inherit" });
  // Ctrl-C in a terminal reaches the run directly; signals to this process alone are passed on.
  process.on("SIGINT", () => (interrupted = true));
  for (const signal of ["SIGTERM", "SIGHUP"]) {
    process.on(signal, () => {
      interrupted = true;
      run.kill(signal);
    });
  }
  const [code, signal] = await once(run, "exit");
  if (code !== 0) return code ?? 128 + (os.constants.signals[signal] ?? 0);
  if (!isRunning()) return printReport();
  await untilDetachedTeamEnds();
  return interrupted ? 130 : printReport();
}

/** Waits until a team with a detached terminal ends, because the end of this script deletes the team's home. */
async function untilDetachedTeamEnds() {
  console.error(`The team continues. Attach again with: ${attachCommand()} ; Ctrl-C here ends it.`);
  const deadline = Date.now() + DETACHED_MS;
  while (isRunning() && !interrupted && Date.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

/** Prints whether a report was written: a detached session shows its errors only in its own pane. */
function printReport() {
  const written = fs.statSync(report, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  // The clock of the file system may be slightly behind.
  const isNew = written > started - 1_000;
  console.error(isNew ? `The report: ${report}` : `No report was written to ${report}.`);
  return isNew ? 0 : 1;
}

function isRunning() {
  return fs.existsSync(path.join(home, "teams", team));
}

function attachCommand() {
  const socket = env.TEAMS_TMUX_SOCKET ? `-L ${env.TEAMS_TMUX_SOCKET} ` : "";
  return `tmux ${socket}attach -t teams-${team}`;
}

/** Ends the team of a run that was killed. */
function endTeams() {
  if (!isRunning()) return;
  spawnSync(process.execPath, [TEAMS, "delete", team, "--force"], { env, stdio: "ignore" });
}
