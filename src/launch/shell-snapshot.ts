import { randomBytes } from "node:crypto";
import { basename, dirname, join } from "node:path";
import { type Clock, pause, steadyNow } from "../os/clock.ts";
import type { Env } from "../os/env.ts";
import { replaceFile } from "../os/files/atomic-write.ts";
import { ensureDir, entryOf, fileSize, listDir, readText, removeFile, rename } from "../os/files/fs.ts";
import { runDetached } from "../os/process/spawn.ts";
import { redactText, secretsOf } from "../os/redact.ts";
import { shellQuote } from "../text/shell-quote.ts";

interface SnapshotOptions {
  /** `<root>`: the file goes to `<root>/shell-snapshots`. */
  readonly root: string;
  /** Path of the user's shell; bash, zsh and fish are supported. */
  readonly shell: string;
  readonly env: Env;
  /** Milliseconds since the epoch; part of the file's name. */
  readonly now: number;
  /** Path from {@link snapshotFile}; a new one by default. */
  readonly file?: string;
  /** Time limit in milliseconds for the shell's startup files; if they take longer, there is no snapshot. */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 10_000;
/** Milliseconds between two polls for a snapshot that another process takes. */
const POLL_MS = 50;
/** Milliseconds until a snapshot is removed; agents of its batch are not expected to run longer. */
const RETENTION_MS = 7 * 24 * 60 * 60 * 1000;
/** Milliseconds since the last write until an unfinished snapshot is removed: longer than any shell may take. */
const PARTIAL_RETENTION_MS = 60_000;
/** Matches only files that teams wrote, complete, failed or partial: their ids begin with `t`. Other programs use the directory too. */
const OUR_FILE = /^snapshot-[a-z]+-(\d+)-t[0-9a-f]{6}\.sh(?:\.none|(\.tmp(\.done)?))?$/;

/**
 * Captures the user's options, functions, aliases and PATH in a file that a shell command can source first. The file contains no
 * other variable and no secret. For fish it contains only PATH, because other shells cannot read fish functions.
 * @returns the file; undefined if the shell is unknown, too slow, or ended or replaced by its startup files
 */
export async function takeSnapshot(options: SnapshotOptions): Promise<string | undefined> {
  const file = options.file ?? snapshotFile(options);
  const dump = DUMPS[basename(options.shell)];
  if (dump === undefined || file === undefined) return undefined;
  const { shell, env, timeoutMs = TIMEOUT_MS } = options;
  ensureDir(dirname(file));
  removeOld(dirname(file), options.now);
  const partial = `${file}.tmp`;
  try {
    await runDetached(shell, dump(partial), { env, timeoutMs });
    // Without a finished file, the shell was killed or its startup files ended it.
    if (fileSize(`${partial}.done`) === undefined) return undefined;
    redactFile(`${partial}.done`, secretsOf(env));
    rename(`${partial}.done`, file);
    return file;
  } finally {
    // They may contain secrets.
    for (const path of [partial, `${partial}.done`]) removeFile(path);
  }
}

/** Redacts secrets: a function or alias may contain the value of a secret variable. */
function redactFile(path: string, secrets: readonly string[]): void {
  const text = readText(path) ?? "";
  const redacted = redactText(text, secrets);
  if (redacted !== text) replaceFile(path, redacted, { sync: false });
}

/** Removes old snapshots, and unredacted snapshots of killed processes. */
function removeOld(directory: string, now: number): void {
  for (const name of listDir(directory)) {
    const [, taken, partial] = OUR_FILE.exec(name) ?? [];
    if (taken === undefined) continue;
    const path = join(directory, name);
    const age = partial === undefined ? now - Number(taken) : now - Number(entryOf(path)?.mtimeMs ?? now);
    if (age > (partial === undefined ? RETENTION_MS : PARTIAL_RETENTION_MS)) removeFile(path);
  }
}

/** Returns the path for a new snapshot, so that it is known before the file exists; undefined for an unknown shell. */
function snapshotFile({
  root,
  shell,
  now,
}: Pick<SnapshotOptions, "root" | "shell" | "now">): string | undefined {
  const kind = basename(shell);
  if (DUMPS[kind] === undefined) return undefined;
  return join(root, "shell-snapshots", `snapshot-${kind}-${now}-t${randomBytes(3).toString("hex")}.sh`);
}

/** The arguments with which each shell writes the file. The last step is a rename, which marks the file as complete. */
const DUMPS: Readonly<Record<string, (file: string) => string[]>> = {
  bash: (file) => ["-i", "-c", finish(BASH, file)],
  zsh: (file) => ["-i", "-c", finish(ZSH, file)],
  fish: (file) => ["-i", "-c", FISH.replaceAll("FILE", fishQuote(file))],
};

function finish(body: string, file: string): string {
  const name = shellQuote(file);
  return `umask 077\n{\n${body}\n} >${name} 2>/dev/null </dev/null\ncommand mv -f ${name} ${name}.done`;
}

// Drops options that would break other commands. Aliases come last, because they must not apply to function bodies, and they
// need expand_aliases.
const BASH = String.raw`
shopt -p | command grep -v -e nullglob -e failglob -e login_shell -e restricted_shell
set +o | command grep -v -e noclobber -e nounset -e errexit -e noexec -e monitor -e history -e verbose -e xtrace
declare -f
printf 'shopt -s expand_aliases\n'
alias -p
printf 'export PATH=%q\n' "$PATH"`;

const ZSH = String.raw`
setopt | command sed -n -e '/^\(noclobber\|nullglob\|nounset\|errexit\|monitor\|zle\|interactive\|shinstdin\|login\|privileged\|restricted\|singlecommand\|xtrace\|verbose\|noexec\|norcs\)$/d' -e 's/^/setopt /p'
# Remove zsh's default aliases: they would expand in the names of functions.
printf 'unalias -a\n'
typeset -f
alias -L
printf 'export PATH=%q\n' "$PATH"`;

// Only fish can read fish functions, but PATH is for any shell.
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
  /** Known before the file exists; the first command of an agent waits for it. */
  readonly file: string;
  /** Takes the snapshot once. @returns when the file is complete, or when the shell failed. Never rejects. */
  take(): Promise<unknown>;
}

/** The context of a lead's operations, as far as a snapshot needs it. */
interface Spawner {
  readonly home: { readonly root: string };
  readonly env: Env;
  readonly clock: Clock;
}

/** A process that spawns several times takes one snapshot: its environment does not change. */
const planned = new WeakMap<Spawner, ShellSnapshot>();

/**
 * Plans the snapshot of the user's shell for the agents that a process spawns. The caller takes it after the spawn, so that a
 * slow startup file delays no agent.
 * @returns undefined for an unknown shell
 */
export function shellSnapshot(spawner: Spawner): ShellSnapshot | undefined {
  const existing = planned.get(spawner);
  if (existing !== undefined) return existing;
  const { env } = spawner;
  const shell = env.SHELL ?? "/bin/bash";
  const options = { root: spawner.home.root, shell, env, now: spawner.clock.now() };
  const file = snapshotFile(options);
  if (file === undefined) return undefined;
  let taken: Promise<unknown> | undefined;
  const take = (): Promise<unknown> => {
    taken ??= takeOrMark({ ...options, file });
    return taken;
  };
  const snapshot = { file, take };
  planned.set(spawner, snapshot);
  return snapshot;
}

/** Takes a snapshot. If the shell fails, writes a mark, so that agents run their commands without a snapshot. Never rejects. */
async function takeOrMark(options: SnapshotOptions & { readonly file: string }): Promise<void> {
  const file = await takeSnapshot(options).catch(() => undefined);
  if (file !== undefined) return;
  try {
    replaceFile(failureMark(options.file), "", { sync: false });
  } catch {
    // Without the mark, an agent's first command waits until its time limit.
  }
}

export function snapshotVariable(snapshot: ShellSnapshot | undefined): Env {
  return snapshot === undefined ? {} : { [SNAPSHOT_VARIABLE]: snapshot.file };
}

/**
 * Returns a function that returns the shell snapshot of this agent's batch. It waits for the file until `waitMs` have passed since its
 * first call, the shell has failed, or the signal of the call aborts; then it returns undefined. Never rejects.
 */
export function snapshotOf(
  env: Env,
  waitMs = TIMEOUT_MS,
): (signal?: AbortSignal) => Promise<string | undefined> {
  const file = env[SNAPSHOT_VARIABLE];
  let giveUpAt: number | undefined;
  return async (signal) => {
    if (file === undefined) return undefined;
    giveUpAt ??= steadyNow() + waitMs;
    while (completed(file) === undefined && entryOf(failureMark(file)) === undefined) {
      if (steadyNow() >= giveUpAt || (await pause(POLL_MS, signal)) === "aborted") break;
    }
    return completed(file);
  };
}

/** Returns the path of the file that marks a failed shell, so that no agent waits for its snapshot. */
function failureMark(file: string): string {
  return `${file}.none`;
}

/** Returns a function that returns a lead's own snapshot, which its teammates use too. Its first call takes the snapshot. */
export function ownSnapshot(spawner: Spawner): () => Promise<string | undefined> {
  return async () => {
    const snapshot = shellSnapshot(spawner);
    await snapshot?.take();
    return completed(snapshot?.file);
  };
}

function completed(file: string | undefined): string | undefined {
  return file !== undefined && entryOf(file) !== undefined ? file : undefined;
}
