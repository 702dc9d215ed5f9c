import { basename } from "node:path";
import type { Env } from "../os/env.ts";
import { findProgram, isExecutable } from "../os/files/access.ts";
import { run } from "../os/process/run.ts";
import { isAtLeast, OLDEST_TMUX, parseVersion, type TmuxVersion } from "../tmux/version.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

/** The oldest Node.js version that the package supports. */
const OLDEST_NODE = { major: 20, minor: 19 } as const;
/** Milliseconds that a program may take to print its version. */
const VERSION_TIMEOUT_MS = 5_000;

/** @param version the value of `process.versions.node` */
export function checkNode(version: string): Finding {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const { major: least, minor: leastMinor } = OLDEST_NODE;
  if (major > least || (major === least && minor >= leastMinor)) return ok("node", version);
  return fail("node", `${version} is too old`, `Install Node.js ${least}.${leastMinor} or newer.`);
}

export async function checkTmux(env: Env): Promise<Finding> {
  if (findProgram("tmux", env) === undefined) {
    const remedy =
      "Install tmux 3.2 or newer (apt install tmux, brew install tmux); without it, teammates run without panes.";
    return fail("tmux", "not found on the PATH", remedy);
  }
  const { stdout, code } = await run("tmux", ["-V"], { env, timeoutMs: VERSION_TIMEOUT_MS });
  if (code !== 0) return fail("tmux", "does not print its version", "Run `tmux -V` to see the problem.");
  return judgeTmux(parseVersion(stdout));
}

export function judgeTmux(version: TmuxVersion): Finding {
  const { major, minor } = OLDEST_TMUX;
  if (isAtLeast(version, major, minor)) return ok("tmux", version.text);
  return fail("tmux", `${version.text} is too old`, `Install tmux ${major}.${minor} or newer.`);
}

export async function checkGit(env: Env): Promise<Finding> {
  if (findProgram("git", env) === undefined)
    return warn("git", "not found on the PATH", "Install git: worktrees and the built-in audit need it.");
  const { stdout, code } = await run("git", ["--version"], { env, timeoutMs: VERSION_TIMEOUT_MS });
  if (code === 0) return ok("git", stdout.trim().replace(/^git version /, ""));
  // As on macOS without the command line tools of Xcode.
  return warn("git", "does not print its version", "Run `git --version` to see the problem.");
}

/** Shells whose aliases and functions can be captured for the agents. */
const CAPTURED_SHELLS: readonly string[] = ["bash", "zsh"];

export function checkShell(env: Env): Finding {
  const shell = env.SHELL;
  if (!shell) {
    return warn(
      "shell",
      "SHELL is not set",
      "Set SHELL to your login shell, so that agents get its aliases and PATH.",
    );
  }
  if (!isExecutable(shell)) {
    return warn("shell", `${shell} is not executable`, "Set SHELL to an installed shell, such as /bin/bash.");
  }
  if (CAPTURED_SHELLS.includes(basename(shell))) return ok("shell", shell);
  // The agents' commands run in another shell, which cannot read the functions of fish.
  if (basename(shell) === "fish") return ok("shell", `${shell}: agents get its PATH, not its functions`);
  const text = `${shell}: its aliases and functions are not captured`;
  return warn(
    "shell",
    text,
    `Agents run their commands in bash. To give them your aliases, set SHELL to one of: ${CAPTURED_SHELLS.join(", ")}.`,
  );
}
