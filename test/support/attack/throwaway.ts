import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../files/temporary-directory.ts";

/** Milliseconds for one script of lines. */
const TIMEOUT = 120_000;

/** Returns whether a shell is installed. */
export function hasShell(shell: string): boolean {
  return spawnSync(shell, ["-c", ":"], { stdio: "ignore" }).status === 0;
}

/** Bubblewrap needs user namespaces, which some containers forbid. */
const hasBubblewrap = spawnSync("bwrap", ["--ro-bind", "/", "/", "true"], { stdio: "ignore" }).status === 0;

/** A directory in which a shell may do anything: with bubblewrap, nothing else is writable and there is no network. */
export interface Throwaway {
  /** Working directory of the lines. */
  readonly work: string;
  /** A file next to the working directory; a line must not change it. */
  readonly outside: string;
  /** Programs in this directory are found first. */
  readonly bin: string;
  /** Returns whether the script ended by itself. */
  run(shell: string, script: string): boolean;
  exists(name: string): boolean;
}

export function throwaway(programs: Readonly<Record<string, string>> = {}): Throwaway {
  const top = temporaryDirectory("tt-attack-");
  const [work, bin, outside] = [join(top, "work"), join(top, "bin"), join(top, "outside")];
  for (const directory of [work, bin]) mkdirSync(directory);
  writeFileSync(outside, "untouched");
  for (const [name, script] of Object.entries(programs)) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`, { mode: 0o700 });
  }
  const env = { PATH: `${bin}:/usr/bin:/bin`, HOME: work, TMPDIR: work, LC_ALL: "C" };
  const run = (shell: string, script: string): boolean => {
    const wall = [
      "--ro-bind",
      "/",
      "/",
      "--tmpfs",
      "/tmp",
      "--dev",
      "/dev",
      "--proc",
      "/proc",
      // Last: it may be below /tmp or /dev.
      "--bind",
      top,
      top,
    ];
    const end = ["--unshare-all", "--die-with-parent", "--chdir", work];
    const words = hasBubblewrap ? ["bwrap", ...wall, ...end, shell, "-c", script] : [shell, "-c", script];
    const [file = "", ...args] = words;
    const { status } = spawnSync(file, args, {
      cwd: work,
      env,
      stdio: "ignore",
      timeout: TIMEOUT,
      killSignal: "SIGKILL",
    });
    return status !== null;
  };
  return { work, bin, outside, run, exists: (name) => existsSync(join(work, name)) };
}

export function isUntouched({ outside }: Throwaway): boolean {
  return readFileSync(outside, "utf8") === "untouched";
}
