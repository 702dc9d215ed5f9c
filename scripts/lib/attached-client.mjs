/**
 * Captures an attached tmux session with its panes, borders, titles and status line: a real client attaches, inside a private
 * tmux server of the window's size, so that no pane is resized.
 */
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";

/**
 * Attaches a client.
 * @param {{server: string[], target: string, columns: number, rows: number}} options server: `-L` and a name, or `-S` and a path
 * @returns {{capture: () => string, close: () => void}} `capture` returns the screen's text with its SGR sequences
 */
export function attachClient({ server, target, columns, rows }) {
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), "client-"));
  const own = ["-S", path.join(scratch, "socket")];
  const config = path.join(scratch, "tmux.conf");
  fs.writeFileSync(config, "set -g status off\nset -g default-terminal tmux-256color\n");
  const close = () => {
    try {
      callTmux([...own, "kill-server"]);
    } catch {
      // The client has ended, and its server with it.
    }
    fs.rmSync(scratch, { recursive: true, force: true });
  };
  const size = ["-x", columns, "-y", rows];
  const client = ["tmux", "-u", "-T", "256,RGB", ...server, "attach-session", "-t", target];
  try {
    callTmux([
      ...own,
      "-f",
      config,
      "new-session",
      "-d",
      "-s",
      "capture",
      ...size,
      "env",
      "-u",
      "TMUX",
      ...client,
    ]);
  } catch (error) {
    close();
    throw error;
  }
  return { capture: () => callTmux([...own, "capture-pane", "-e", "-p", "-t", "=capture:"]), close };
}

/** Runs tmux outside the caller's session. @returns its output */
export function callTmux(words, options = {}) {
  const env = { ...process.env, ...options.env };
  delete env.TMUX;
  return execFileSync("tmux", words.map(String), {
    encoding: "utf8",
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
}
