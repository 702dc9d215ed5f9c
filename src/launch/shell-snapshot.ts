import { randomBytes } from "node:crypto";
import { basename, dirname, join } from "node:path";
import type { Env } from "../os/env.ts";
import { replaceFile } from "../os/files/atomic-write.ts";
import { ensureDir, fileSize, listDir, readText, removeFile, rename } from "../os/files/fs.ts";
import { runDetached } from "../os/process/spawn.ts";
import { redactText, secretsOf } from "../os/redact.ts";
import { shellQuote } from "../text/shell-quote.ts";

interface SnapshotOptions {
  /** `<root>`: the file goes to `<root>/shell-snapshots`. */
  readonly root: string;
  /** The user's shell, a path; bash, zsh and fish are known. */
  readonly shell: string;
  readonly env: Env;
  /** Milliseconds since the epoch, for the file's name. */
  readonly now: number;
  /** Where it goes, as {@link snapshotFile} said; a new name without it. */
  readonly file?: string;
  /** Start-up files that take longer are given up, and nothing depends on them. */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 10_000;
/** Milliseconds that a snapshot is kept: longer than the agents of its batch are likely to run. */
const KEPT_MS = 7 * 24 * 60 * 60 * 1000;
/** Our own files among those that other programs keep there, whole or not: their ids begin with `t`. */
const OURS = /^snapshot-[a-z]+-(\d+)-t[0-9a-f]{6}\.sh(\.tmp(\.done)?)?$/;

/**
 * Captures the user's options, functions, aliases and PATH as a file that a shell command can source first. No other
 * variable goes into it, and no secret. Of fish only PATH is kept: nothing but fish reads its functions.
 * @returns the file; undefined for an unknown shell or one whose start-up files end or replace it
 */
export async function takeSnapshot(options: SnapshotOptions): Promise<string | undefined> {
  const file = options.file ?? snapshotFile(options);
  const dump = DUMPS[basename(options.shell)];
  if (dump === undefined || file === undefined) return undefined;
  const { shell, env, timeoutMs = TIMEOUT_MS } = options;
  ensureDir(dirname(file));
  removeOld(dirname(file), options.now);
  const partial = `${file}.tmp`;
  await runDetached(shell, dump(partial), { env, timeoutMs });
  // A shell that was cut off, or that its own files ended, leaves no finished file.
  const size = fileSize(`${partial}.done`);
  if (size === undefined) {
    removeFile(partial);
    return undefined;
  }
  maskFile(`${partial}.done`, secretsOf(env));
  rename(`${partial}.done`, file);
  return file;
}

/** A function or an alias may have been made with the value of a secret variable in it. */
function maskFile(path: string, secrets: readonly string[]): void {
  const text = readText(path) ?? "";
  const masked = redactText(text, secrets);
  if (masked !== text) replaceFile(path, masked, { sync: false });
}

function removeOld(directory: string, now: number): void {
  for (const name of listDir(directory)) {
    const taken = OURS.exec(name)?.[1];
    if (taken !== undefined && now - Number(taken) > KEPT_MS) removeFile(join(directory, name));
  }
}

/** A new file's name, for whoever has to know it before it is there; undefined for a shell that is not known. */
export function snapshotFile({
  root,
  shell,
  now,
}: Pick<SnapshotOptions, "root" | "shell" | "now">): string | undefined {
  const kind = basename(shell);
  if (DUMPS[kind] === undefined) return undefined;
  return join(root, "shell-snapshots", `snapshot-${kind}-${now}-t${randomBytes(3).toString("hex")}.sh`);
}

/** How each shell is asked. The last step is a rename: the name says that the file is whole. */
const DUMPS: Readonly<Record<string, (file: string) => string[]>> = {
  bash: (file) => ["-i", "-c", finish(BASH, file)],
  zsh: (file) => ["-i", "-c", finish(ZSH, file)],
  fish: (file) => ["-i", "-c", FISH.replaceAll("FILE", fishQuote(file))],
};

function finish(body: string, file: string): string {
  const name = shellQuote(file);
  return `umask 077\n{\n${body}\n} >${name} 2>/dev/null </dev/null\ncommand mv -f ${name} ${name}.done`;
}

// Options that would break a foreign command are dropped. Aliases come last: a function's body must not be read with
// them, and they need expand_aliases.
const BASH = String.raw`
shopt -p | command grep -v -e nullglob -e failglob -e login_shell -e restricted_shell
set +o | command grep -v -e noclobber -e nounset -e errexit -e noexec -e monitor -e history -e verbose -e xtrace
declare -f
printf 'shopt -s expand_aliases\n'
alias -p
printf 'export PATH=%q\n' "$PATH"`;

const ZSH = String.raw`
setopt | command sed -n -e '/^\(noclobber\|nullglob\|nounset\|errexit\|monitor\|zle\|interactive\|shinstdin\|login\|privileged\|restricted\|singlecommand\|xtrace\|verbose\|noexec\|norcs\)$/d' -e 's/^/setopt /p'
# zsh has aliases of its own, which would be read into a function's name.
printf 'unalias -a\n'
typeset -f
alias -L
printf 'export PATH=%q\n' "$PATH"`;

// Fish's functions are read by fish alone; its PATH is for any shell.
const FISH = String.raw`
umask 077
printf 'export PATH=%s\n' "'"(string join : -- $PATH | string replace -a "'" "'\\''")"'" >FILE
command mv -f FILE FILE.done`;

function fishQuote(word: string): string {
  return `'${word.replace(/[\\']/g, "\\$&")}'`;
}
