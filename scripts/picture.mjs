/**
 * Records the animation in the README: a real run of the built-in audit on a clone of this checkout, with a private
 * tmux server and home, from its first line to its end. Needs a build (npm run build).
 *
 *   node scripts/picture.mjs [--out docs/team.svg] [--png FILE.png]
 */
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { screensToSvg } from "./lib/ansi-svg.mjs";
import { attachClient } from "./lib/attached-client.mjs";

const DEADLINE_MS = 60_000;
/** Cells of the screen, with tmux's status line. */
const SIZE = { columns: 180, rows: 47 };
/** Milliseconds between two captures of the screen. */
const POLL_MS = 800;
/** Maximum milliseconds for which one capture is shown. */
const MAX_MS = 1_500;
/** Milliseconds for which the last capture is shown. */
const LAST_MS = 4_000;
const checkout = fileURLToPath(new URL("..", import.meta.url));
const { values: options } = parseArgs({
  options: {
    out: { type: "string", default: path.join(checkout, "docs", "team.svg") },
    png: { type: "string" },
  },
});

const scratch = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "picture-")));
const socket = path.join(scratch, "socket");
const repository = path.join(scratch, "repository");
const env = {
  PATH: `${scratch}/bin:${process.env.PATH}`,
  HOME: scratch,
  SHELL: "/bin/sh",
  PS1: "$ ",
  LANG: "C.UTF-8",
  TERM: "xterm-256color",
  TEAMS_HOME: path.join(scratch, "home"),
  XDG_RUNTIME_DIR: scratch,
};

// Without a handler, a signal would leave the server and the directory.
for (const signal of ["SIGHUP", "SIGINT", "SIGTERM"]) {
  process.on(signal, () => {
    end();
    process.exit(128 + os.constants.signals[signal]);
  });
}
try {
  prepare();
  tmux(
    "-f",
    path.join(scratch, "tmux.conf"),
    "new-session",
    "-d",
    "-s",
    "work",
    "-x",
    SIZE.columns,
    "-y",
    SIZE.rows - 1,
    "-c",
    repository,
  );
  tmux("send-keys", "-t", "=work:", "clear; teams run --team audit --here", "Enter");
  await until("the first teammate", () => teams("status", "--team", "audit", "--json") !== undefined);
  const client = attachClient({ server: ["-S", socket], target: "=work:", ...SIZE });
  let screens;
  try {
    screens = await record(client.capture);
  } finally {
    client.close();
  }
  const svg = screensToSvg(screens, { ...SIZE, title: "teams run --here" });
  fs.writeFileSync(options.out, svg);
  if (options.png) execFileSync("rsvg-convert", ["--zoom", "2", "--output", options.png], { input: svg });
} finally {
  end();
}

function prepare() {
  fs.mkdirSync(path.join(scratch, "bin"));
  fs.mkdirSync(env.TEAMS_HOME);
  // Use a copy, so that the picture shows no path of this machine.
  const copy = path.join(scratch, "app");
  fs.cpSync(path.join(checkout, "dist"), path.join(copy, "dist"), { recursive: true });
  fs.symlinkSync(path.join(checkout, "node_modules"), path.join(copy, "node_modules"));
  fs.symlinkSync(path.join(copy, "dist", "teams.cjs"), path.join(scratch, "bin", "teams"));
  fs.writeFileSync(
    path.join(scratch, "tmux.conf"),
    "set -g status-right ''\nset -g default-command 'exec /bin/sh'\nset -g default-terminal tmux-256color\n",
  );
  execFileSync("git", ["clone", "--quiet", checkout, repository]);
}

/** Returns the screens of the run, each with the milliseconds for which it is shown. */
async function record(capture) {
  const screens = [];
  const deadline = Date.now() + DEADLINE_MS;
  const exists = () => fs.existsSync(path.join(env.TEAMS_HOME, "teams", "audit"));
  for (let running = true; running; ) {
    if (Date.now() > deadline) throw new Error(`Timed out waiting for the end of the run:\n${capture()}`);
    // The capture after the run's end shows the result.
    running = exists();
    const text = capture();
    const last = screens.at(-1);
    if (last?.text === text) last.ms = Math.min(MAX_MS, last.ms + POLL_MS);
    else screens.push({ text, ms: POLL_MS });
    await delay(POLL_MS);
  }
  screens.at(-1).ms = LAST_MS;
  return screens;
}

function teams(...words) {
  try {
    return execFileSync(path.join(scratch, "bin", "teams"), words, {
      env,
      cwd: repository,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
  } catch {
    // The team does not exist yet, or no longer exists.
    return undefined;
  }
}

async function until(what, condition) {
  const deadline = Date.now() + DEADLINE_MS;
  while (!condition()) {
    if (Date.now() > deadline)
      throw new Error(`Timed out waiting for ${what}:\n${tmux("capture-pane", "-p", "-t", "=work:")}`);
    await delay(50);
  }
}

function tmux(...words) {
  return execFileSync("tmux", ["-S", socket, ...words.map(String)], { env, encoding: "utf8" });
}

function end() {
  teams("kill", "audit", "--force");
  try {
    tmux("kill-server");
  } catch {
    // The server never started.
  }
  fs.rmSync(scratch, { recursive: true, force: true });
}
