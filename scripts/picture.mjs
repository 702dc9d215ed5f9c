/**
 * Takes the picture of the README: a real run of the built-in audit on a clone of this checkout, with a
 * private tmux server and home, while its members work. Needs a build (npm run build).
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

const DEADLINE_MS = 60_000;
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

// Without a handler a signal would leave the server and the directory.
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
    "180",
    "-y",
    "46",
    "-c",
    repository,
  );
  tmux("send-keys", "-t", "=work:", "clear; teams run --team audit --here", "Enter");
  await until("a waiting plan and two working members", showsMuch);
  const words = [
    path.join(checkout, "scripts/screenshot.mjs"),
    "--socket",
    socket,
    "--target",
    "=work:",
    "--out",
    options.out,
    "--title",
    "teams run --here",
  ];
  execFileSync(process.execPath, [...words, ...(options.png ? ["--png", options.png] : [])], {
    stdio: "inherit",
  });
  await until("the end of the run", () => !fs.existsSync(path.join(env.TEAMS_HOME, "teams", "audit")));
} finally {
  end();
}

function prepare() {
  fs.mkdirSync(path.join(scratch, "bin"));
  fs.mkdirSync(env.TEAMS_HOME);
  // A copy, so that the picture shows no path of this machine.
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

/**
 * Returns whether half of the tasks are done and members still work, so that every part of the screen shows
 * something.
 */
function showsMuch() {
  const status = JSON.parse(teams("status", "--team", "audit", "--json") ?? "{}");
  const working = (status.members ?? []).filter(({ state }) => state === "running").length;
  return (status.tasks?.completed ?? 0) >= 3 && working >= 2;
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
    // The team does not exist yet, or any more.
    return undefined;
  }
}

async function until(what, holds) {
  const deadline = Date.now() + DEADLINE_MS;
  while (!holds()) {
    if (Date.now() > deadline)
      throw new Error(`Timed out waiting for ${what}:\n${tmux("capture-pane", "-p", "-t", "=work:")}`);
    await delay(50);
  }
}

function tmux(...words) {
  return execFileSync("tmux", ["-S", socket, ...words], { env, encoding: "utf8" });
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
