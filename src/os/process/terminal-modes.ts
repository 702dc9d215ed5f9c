import { spawnSync } from "node:child_process";
import { closeSync, constants, openSync } from "node:fs";

/**
 * Leaves the alternate screen, turns off mouse reports, bracketed paste and styles, and shows the cursor. Uses 1047, because 1049
 * also moves the cursor to a saved position.
 */
const PLAIN = "\x1b[?1047l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?2004l\x1b[?25h\x1b[0m";
/** Moves the cursor below the last row, so that the last screen stays readable. */
const BELOW = "\x1b[999;1H\r\n";

/**
 * Saves the modes of this process's terminal, for a program that gets it and may be killed there.
 * @returns a function that restores them, and returns the text to print before anything else
 */
export function saveTerminalModes(): () => string {
  const saved = stty("-g");
  return () => {
    // Without stty the modes stay; a shell sets its own at its next prompt.
    if (saved !== undefined) stty(saved);
    return `${PLAIN}${BELOW}`;
  };
}

/**
 * Returns whether a terminal is in canonical mode: it collects whole lines for the program that reads it. A program that
 * edits its input itself turns that mode off while it reads, and often drops text typed before.
 * @param path of the terminal; by default that of this process
 * @returns undefined if the system does not tell
 */
export function collectsLines(path?: string): boolean | undefined {
  const modes = path === undefined ? stty("-a") : sttyOf(path);
  if (modes === undefined) return undefined;
  return /(^|\s)icanon\b/.test(modes) ? true : /-icanon\b/.test(modes) ? false : undefined;
}

function sttyOf(path: string): string | undefined {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOCTTY | constants.O_NONBLOCK);
  } catch {
    // The terminal is gone, or belongs to another user; typing into it fails with the reason.
    return undefined;
  }
  try {
    return stty("-a", fd);
  } finally {
    closeSync(fd);
  }
}

function stty(word: string, terminal: number | "inherit" = "inherit"): string | undefined {
  const { status, stdout } = spawnSync("stty", [word], {
    stdio: [terminal, "pipe", "ignore"],
    encoding: "utf8",
  });
  return status === 0 ? stdout.trim() : undefined;
}
