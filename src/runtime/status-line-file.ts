import { basename, dirname, join } from "node:path";
import { messageOf, TeamError } from "../errors.ts";
import type { OperationContext } from "../operations/context.ts";
import { teamStatus } from "../operations/status.ts";
import { after, steadyNow } from "../os/clock.ts";
import { ensureOwnDirectory } from "../os/files/app-directories.ts";
import { makeDirBelow, replaceFile } from "../os/files/atomic-write.ts";
import { isMissing, readText, removeFile } from "../os/files/fs.ts";
import { type DirectoryWatch, watchDirectory } from "../os/files/watch.ts";
import { teamExists } from "../team/config/config.ts";
import { removeUnkeptLine } from "../team/records/status-line.ts";
import { statusLine } from "../terminal/status-line.ts";
import { shellQuote } from "../text/shell-quote.ts";
import { NO_BACKENDS } from "./operation-context.ts";

/** Milliseconds between two writes; changes meanwhile are merged. */
const PAUSE_MS = 250;
/** Mode of a program that only its owner may run. */
const PRIVATE_PROGRAM = 0o700;

/** The file with the status line of a team, which each resident process of the team keeps current. */
export interface StatusLineFile {
  /** Writes the line again soon, if it has changed. */
  changed(): void;
  /** Writes the last line; removes the file if no other process of the team can keep it current. */
  end(): Promise<void>;
}

interface KeepOptions {
  /** The member of this process. */
  readonly own: string;
  /** Watch the tasks, requests and ends of members; a process that watches the whole team calls `changed` instead. */
  readonly watches: boolean;
  /** Receives the first of several failures in a row. */
  problem(text: string): void;
}

/**
 * Keeps the file that a status bar shows with `cat`: the same line as `teams status --line`. A timer runs only after several
 * changes in a row. Also writes a launcher of this program, for bindings of a tmux server without `teams` on its PATH.
 */
export function keepStatusLine(ctx: OperationContext, options: KeepOptions): StatusLineFile {
  const file = new LineFile(ctx, options);
  file.changed();
  return file;
}

class LineFile implements StatusLineFile {
  readonly #ctx: OperationContext;
  readonly #options: KeepOptions;
  #watches: readonly DirectoryWatch[] = [];
  #path: string | undefined;
  #cancel: (() => void) | undefined;
  #writtenAt = Number.NEGATIVE_INFINITY;
  #work: Promise<void> = Promise.resolve();
  #isEnded = false;
  #hasFailed = false;

  constructor(ctx: OperationContext, options: KeepOptions) {
    // Asking tmux at each change would start processes, even in an idle team.
    this.#ctx = { ...ctx, backends: NO_BACKENDS };
    this.#options = options;
    this.#attempt(() => writeLauncher(ctx));
  }

  changed(): void {
    if (this.#isEnded || this.#cancel !== undefined) return;
    const waitMs = this.#writtenAt + PAUSE_MS - steadyNow();
    if (waitMs <= 0) {
      this.#write();
      return;
    }
    this.#cancel = after(waitMs, () => {
      this.#cancel = undefined;
      this.#write();
    });
  }

  async end(): Promise<void> {
    this.#isEnded = true;
    this.#cancel?.();
    this.#stopWatching();
    await this.#work;
    await this.#update();
    // After the write: another process may have ended meanwhile, and left the file because this one was alive.
    const { ref } = this.#ctx;
    if (teamExists(ref)) this.#attempt(() => removeUnkeptLine(ref, this.#options.own));
  }

  #write(): void {
    this.#writtenAt = steadyNow();
    this.#work = this.#work.then(() => this.#update());
  }

  async #update(): Promise<void> {
    const { ref } = this.#ctx;
    try {
      if (!teamExists(ref)) return;
      if (this.#options.watches && !this.#isEnded) this.#watch();
      const text = `${statusLine(await teamStatus(this.#ctx))}\n`;
      const path = ref.paths.statusLine;
      // A renamed team has another directory.
      if (this.#path !== undefined && this.#path !== path) removeFile(this.#path);
      this.#path = path;
      if (readText(path) !== text) replaceFile(path, text, { sync: false });
      this.#hasFailed = false;
    } catch (error) {
      // A deleted team has neither a line nor a directory.
      if (isMissing(error) || (error instanceof TeamError && error.code === "TEAM_NOT_FOUND")) return;
      this.#report(error);
    }
  }

  /** Watches only directories that change rarely: each member rewrites the line itself when its own state changes. */
  #watch(): void {
    if (this.#watches.length > 0) return;
    const { paths } = this.#ctx.ref;
    // Created now: otherwise no request would be noticed in a team that has never had one.
    makeDirBelow(paths.dir, paths.requests);
    const directories = [paths.tasks, paths.requests, dirname(paths.agent(this.#options.own).run)];
    this.#watches = directories.flatMap((directory) => {
      const watch = watchDirectory(directory, () => this.changed());
      return watch === undefined ? [] : [watch];
    });
  }

  #stopWatching(): void {
    for (const watch of this.#watches) watch.close();
    this.#watches = [];
  }

  #attempt(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#report(error);
    }
  }

  #report(error: unknown): void {
    if (!this.#hasFailed) this.#options.problem(`the status line is out of date: ${messageOf(error)}`);
    this.#hasFailed = true;
  }
}

/** Writes `<runtime>/.bin/teams`, which starts this program with this Node. */
function writeLauncher({ ref, program }: OperationContext): void {
  // The program of teammates cannot run other commands.
  if (program.some((word) => basename(word).startsWith("teams-agent"))) return;
  const directory = join(dirname(dirname(ref.paths.runtime)), ".bin");
  const path = join(directory, "teams");
  const text = `#!/bin/sh\nexec ${program.map(shellQuote).join(" ")} "$@"\n`;
  if (readText(path) === text) return;
  ensureOwnDirectory(dirname(directory));
  ensureOwnDirectory(directory);
  replaceFile(path, text, { sync: false, mode: PRIVATE_PROGRAM });
}
