import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { temporaryDirectory } from "../files/temporary-directory.ts";

/** Time limit in milliseconds for one script of lines: each line may take a second. */
const TIMEOUT = 600_000;

/** Returns whether a shell is installed. */
export function hasShell(shell: string): boolean {
  return spawnSync(shell, ["-c", ":"], { stdio: "ignore" }).status === 0;
}

/** Returns the arguments for Bubblewrap before the program. @param tmp the directory that the program sees as /tmp */
function sandbox(home: string, tmp: string, work: string): readonly string[] {
  const system = ["--ro-bind", "/", "/", "--bind", tmp, "/tmp", "--dev", "/dev", "--proc", "/proc"];
  // Bind the home directory last: it may be below /tmp or /dev.
  return [...system, "--bind", home, home, "--unshare-all", "--die-with-parent", "--chdir", work];
}

/** Whether bubblewrap works here: some containers forbid user namespaces, or only a private /proc or network. */
export const hasBubblewrap =
  spawnSync("bwrap", [...sandbox("/tmp", "/tmp", "/tmp"), "true"], { stdio: "ignore" }).status === 0;

/**
 * A home directory in which a shell may do anything: nothing else is writable and there is no network. The shell sees its `tmp`
 * as /tmp.
 */
export interface Throwaway {
  /** Contains the other directories. */
  readonly home: string;
  /** Working directory of the lines, in the home directory. */
  readonly work: string;
  /** A file next to the working directory; a line must not change it. */
  readonly outside: string;
  /** The first directory on PATH. */
  readonly bin: string;
  /**
   * Runs a script in the sandbox.
   * @returns whether it ended before the time limit
   * @throws Error without bubblewrap: a hostile line must not run outside a sandbox
   */
  run(shell: string, script: string): boolean;
  exists(name: string): boolean;
}

export function throwaway(programs: Readonly<Record<string, string>> = {}): Throwaway {
  const home = temporaryDirectory("tt-attack-");
  const [work, bin, outside] = [join(home, "project"), join(home, "bin"), join(home, "outside")];
  const [tmp, xdg] = [join(home, "tmp"), join(home, "xdg")];
  for (const directory of [work, bin, tmp, xdg]) mkdirSync(directory);
  writeFileSync(outside, "untouched");
  for (const [name, script] of Object.entries(programs)) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`, { mode: 0o700 });
  }
  // fish writes its own files when it starts.
  const own = { XDG_CONFIG_HOME: xdg, XDG_DATA_HOME: xdg, XDG_CACHE_HOME: xdg, XDG_STATE_HOME: xdg };
  const temporary = { TMPDIR: work, TMUX_TMPDIR: work };
  const env = { PATH: `${bin}:/usr/bin:/bin`, HOME: home, LC_ALL: "C", ...temporary, ...own };
  const run = (shell: string, script: string): boolean => {
    if (!hasBubblewrap) throw new Error("bubblewrap does not work here; no line was run.");
    const { status } = spawnSync("bwrap", [...sandbox(home, tmp, work), shell, "-c", script], {
      cwd: work,
      env,
      stdio: "ignore",
      timeout: TIMEOUT,
      killSignal: "SIGKILL",
    });
    return status !== null;
  };
  return { home, work, bin, outside, run, exists: (name) => existsSync(join(work, name)) };
}

/** Lists new entries outside the working directory, and `outside` if that file has changed or is gone. */
export function changedOutside({ home, outside }: Throwaway): readonly string[] {
  const mountPoint = relative("/tmp", home).split(sep)[0];
  const written = readdirSync(join(home, "tmp")).filter((name) => name !== mountPoint);
  const added = readdirSync(home).filter((name) => !OWN.includes(name));
  const isChanged = !existsSync(outside) || readFileSync(outside, "utf8") !== "untouched";
  return [...added, ...written.map((name) => `/tmp/${name}`), ...(isChanged ? ["outside"] : [])];
}

const OWN = ["bin", "outside", "project", "tmp", "xdg"];
