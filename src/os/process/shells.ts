import { readFileSync, realpathSync, type Stats, statSync } from "node:fs";
import { basename, isAbsolute } from "node:path";
import { readText } from "../files/fs.ts";

/** Names of shells, including those that `/etc/shells` does not list. */
const SHELLS = /^(?:ba|rba|z|da|k|mk|tc|c|fi|a|el|x|nu|pw)?sh$|^(?:nu|fish|elvish|xonsh|pwsh)$/;
/** Shells of a system without `/etc/shells`. */
const COMMON = ["sh", "bash", "zsh", "dash", "fish", "ksh"].map((name) => `/bin/${name}`);

/** Whether a name is the name of a shell. */
export function isShellName(name: string): boolean {
  return SHELLS.test(name);
}

/** Whether a file is a shell of this system, a link to one, or a copy of one, whatever its name is. */
export function isShellFile(path: string): boolean {
  const file = isAbsolute(path) ? statOf(path) : undefined;
  if (file === undefined || !file.isFile()) return false;
  const key = `${file.dev}:${file.ino}:${file.size}:${file.mtimeMs}`;
  const before = known.get(key);
  if (before !== undefined) return before;
  const isShell = shellFiles().some(({ path: shell, stats }) => {
    if (stats.dev === file.dev && stats.ino === file.ino) return true;
    return stats.size === file.size && hasSameContent(path, shell);
  });
  known.set(key, isShell);
  return isShell;
}

const known = new Map<string, boolean>();

interface ShellFile {
  readonly path: string;
  readonly stats: Stats;
}

let shells: readonly ShellFile[] | undefined;

function shellFiles(): readonly ShellFile[] {
  shells ??= listedShells();
  return shells;
}

function listedShells(): readonly ShellFile[] {
  const listed = (readText("/etc/shells") ?? "").split("\n").filter((line) => line.startsWith("/"));
  const files = new Map<string, ShellFile>();
  for (const path of [...listed, ...COMMON]) {
    const stats = statOf(path);
    if (stats === undefined) continue;
    const real = realpathSync(path);
    // One program can provide many commands (busybox): the name of the file decides.
    if (isShellName(basename(real))) files.set(real, { path: real, stats });
  }
  return [...files.values()];
}

function statOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    // The file is missing, or this user may not read it.
    return undefined;
  }
}

function hasSameContent(one: string, other: string): boolean {
  try {
    return readFileSync(one).equals(readFileSync(other));
  } catch {
    // This user may not read one of them, so the content cannot be compared.
    return false;
  }
}
