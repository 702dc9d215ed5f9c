import { randomBytes } from "node:crypto";
import { basename, dirname, join } from "node:path";
import type { Clock } from "../os/clock.ts";
import type { Env } from "../os/env.ts";
import { replaceFile } from "../os/files/atomic-write.ts";
import { ensureDir, entryOf, fileSize, listDir, readText, removeFile, rename } from "../os/files/fs.ts";
import { runDetached } from "../os/process/spawn.ts";
import { maskText, secretsOf } from "../os/redact.ts";
import { shellQuote } from "../text/shell-quote.ts";

interface SnapshotOptions {
  /** `<root>`: the file goes to `<root>/shell-snapshots`. */
  readonly root: string;
  /** The user's shell, a path; bash, zsh and fish are known. */
  readonly shell: string;
  readonly env: Env;
  /** Milliseconds since the epoch, for the file's name. */
  readonly now: number;
  /** The path from {@link snapshotFile}; a new one by default. */
  readonly file?: string;
  /** Gives up if the start-up files take longer; nothing depends on the snapshot. */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 10_000;
/** Milliseconds that a snapshot is kept, probably longer than the agents of its batch run. */
const RETENTION_MS = 7 * 24 * 60 * 60 * 1000;
/** Our own files, complete or not, among those of other programs: their ids begin with `t`. */
const OURS = /^snapshot-[a-z]+-(\d+)-t[0-9a-f]{6}\.sh(\.tmp(\.done)?)?$/;

/**
 * Captures the user's options, functions, aliases and PATH as a file that a shell command can source first. No other
 * variable goes into it, and no secret. Of fish only PATH is kept: nothing but fish reads its functions.
 * @returns the file; undefined for an unknown shell, or if the start-up files end or replace the shell
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
  // A shell that timed out, or that its start-up files ended, leaves no complete file.
  const size = fileSize(`${partial}.done`);
  if (size === undefined) {
    removeFile(partial);
    return undefined;
  }
  maskFile(`${partial}.done`, secretsOf(env));
  rename(`${partial}.done`, file);
  return file;
}

/** Redacts secrets: a function or an alias may contain the value of a secret variable. */
function maskFile(path: string, secrets: readonly string[]): void {
  const text = readText(path) ?? "";
  const masked = maskText(text, secrets);
  if (masked !== text) replaceFile(path, masked, { sync: false });
}

function removeOld(directory: string, now: number): void {
  for (const name of listDir(directory)) {
    const taken = OURS.exec(name)?.[1];
    if (taken !== undefined && now - Number(taken) > RETENTION_MS) removeFile(join(directory, name));
  }
}

/** Returns the name of a new snapshot file, for callers that need it before the file exists; undefined for an unknown shell. */
export function snapshotFile({
  root,
  shell,
  now,
}: Pick<SnapshotOptions, "root" | "shell" | "now">): string | undefined {
  const kind = basename(shell);
  if (DUMPS[kind] === undefined) return undefined;
  return join(root, "shell-snapshots", `snapshot-${kind}-${now}-t${randomBytes(3).toString("hex")}.sh`);
}

/** The arguments that make each shell write its state. The last step is a rename, so that the name marks a complete file. */
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

/** Tells an agent where its shell commands find the user's shell environment. */
const SNAPSHOT_VARIABLE = "TEAMS_SNAPSHOT";

export interface ShellSnapshot {
  /** Known before the file exists; until then, commands run without it. */
  readonly file: string;
  /** Takes the snapshot once. @returns when the file is complete, or when the shell failed. Never rejects. */
  take(): Promise<unknown>;
}

/** Who takes snapshots: the context of a lead's operations. */
interface Spawner {
  readonly home: { readonly root: string };
  readonly env: Env;
  readonly clock: Clock;
}

/** A process that spawns several times takes one snapshot: its environment does not change. */
const planned = new WeakMap<Spawner, ShellSnapshot>();

/**
 * Plans the snapshot of the user's shell for the agents that a process spawns. The caller takes it after the spawn, so that a
 * slow start-up file delays no agent.
 * @returns undefined for an unknown shell
 */
export function shellSnapshot(spawner: Spawner): ShellSnapshot | undefined {
  const before = planned.get(spawner);
  if (before !== undefined) return before;
  const { env } = spawner;
  const shell = env.SHELL ?? "/bin/bash";
  const options = { root: spawner.home.root, shell, env, now: spawner.clock.now() };
  const file = snapshotFile(options);
  if (file === undefined) return undefined;
  let taken: Promise<unknown> | undefined;
  const take = (): Promise<unknown> => {
    // A shell that fails leaves no file; the agent then runs its commands without a snapshot.
    taken ??= takeSnapshot({ ...options, file }).catch(() => undefined);
    return taken;
  };
  const snapshot = { file, take };
  planned.set(spawner, snapshot);
  return snapshot;
}

export function snapshotVariable(snapshot: ShellSnapshot | undefined): Env {
  return snapshot === undefined ? {} : { [SNAPSHOT_VARIABLE]: snapshot.file };
}

/** Returns a function that gives the shell snapshot of this agent's batch, or undefined until the file is complete. */
export function snapshotOf(env: Env): () => string | undefined {
  const file = env[SNAPSHOT_VARIABLE];
  return () => (file !== undefined && entryOf(file) !== undefined ? file : undefined);
}
