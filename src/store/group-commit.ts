import { basename, dirname, join } from "node:path";
import { isSystemError } from "../errors.ts";
import { systemClock } from "../os/clock.ts";
import { syncNames } from "../os/files/atomic-write.ts";
import {
  entryOf,
  isMissing,
  listDir,
  makePrivateDir,
  readText,
  removeFile,
  removeIfEmpty,
  rename,
  writeNew,
} from "../os/files/fs.ts";
import { ownerLiveness, ownerOf, ownerRecord } from "./owner-lock.ts";

// Group commit: processes that wait in the queue of a file post their changes below `<path>.waiting`, and the holder of the
// queue makes them with its own, in one replacement of the file.
//   <owner record>        a posted change; the record names its process and distinguishes it from all others
//   <owner record>.done   the change is in the file, on disk: its process removes this acknowledgement
//   <owner record>.left   its process has given up waiting
//   group.<staged file>   the changes that a staged file contains; it exists from before the rename until all are acknowledged
// A holder that dies in between leaves its group to the next holder, or to a process that gives up. Either decides by a rename
// of the staged file whether the group counts, see `decide`. So no change is lost, and none is made twice.

/** Milliseconds for which a posted change counts without checking its process, which may have been killed. */
const FRESH_MS = 1_000;
/** Milliseconds after which a change counts as abandoned if its process cannot be judged from here: longer than any wait. */
const ABANDONED_MS = 120_000;
/** Maximum characters of the changes in one replacement: the others wait for the next one. */
const MAX_CHARACTERS = 1024 * 1024;
const DONE = ".done";
const LEFT = ".left";
const GROUP = "group.";

const DIRECTORY = ".waiting";

function directoryOf(path: string): string {
  return `${path}${DIRECTORY}`;
}

/** Returns whether a directory contains the posted changes of a file. */
export function isWaitingDirectory(path: string): boolean {
  return path.endsWith(DIRECTORY);
}

/** The change of this process while it waits in the queue of a file. */
export class PostedChange {
  readonly #path: string;
  /** The name of the change below the directory; undefined while it is not posted. */
  #name: string | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** Posts the change for the holder of the queue. If that fails, this process waits for its own turn, which reports the cause. */
  post(text: string): void {
    const directory = directoryOf(this.#path);
    const name = ownerRecord();
    const file = join(directory, name);
    try {
      // Another process removes the directory whenever it is empty.
      if (!tryWrite(file, text)) makePrivateDir(directory);
      else this.#name = name;
      if (this.#name === undefined && tryWrite(file, text)) this.#name = name;
    } catch (error) {
      if (!isSystemError(error)) throw error;
      removeFile(file);
    }
  }

  get isPosted(): boolean {
    return this.#name !== undefined;
  }

  /** Returns whether the holder of the queue has made the change, which is then on disk. Removes its acknowledgement. */
  isMade(): boolean {
    if (this.#name === undefined || entryOf(this.#file(DONE)) === undefined) return false;
    this.#forget(DONE);
    return true;
  }

  /** Withdraws the change in this process's own turn. @returns whether another process has made it */
  withdraw(): boolean {
    if (this.isMade()) return true;
    if (this.isPosted) this.#forget("");
    return false;
  }

  /**
   * Withdraws the change outside any turn, after the wait failed.
   * @returns whether the change was made anyway
   */
  abandon(): boolean {
    const name = this.#name;
    if (name === undefined) return false;
    // From now on no holder makes the change: each checks for it after recording its group, and right before its rename.
    renameIfThere(this.#file(""), this.#file(LEFT));
    const isIn = listDir(directoryOf(this.#path))
      .filter((file) => file.startsWith(GROUP) && (changesOf(this.#path, file)?.includes(name) ?? true))
      .some((file) => decide(this.#path, file) === "made");
    if (isIn) syncNames(dirname(this.#path));
    const isMade = entryOf(this.#file(DONE)) !== undefined || isIn;
    this.#forget(LEFT, DONE);
    return isMade;
  }

  #file(end: string): string {
    return join(directoryOf(this.#path), `${this.#name}${end}`);
  }

  #forget(...ends: readonly string[]): void {
    for (const end of ends) removeFile(this.#file(end));
    removeIfEmpty(directoryOf(this.#path));
    this.#name = undefined;
  }
}

/** @returns false if the directory is missing */
function tryWrite(path: string, text: string): boolean {
  try {
    // Not synced: the replacement that contains the change is.
    writeNew(path, text, undefined, false);
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

/** A change that another process has posted. */
export interface WaitingChange {
  readonly name: string;
  readonly text: string;
}

/**
 * Returns the changes that wait for the holder of the queue. Call it only in a turn. First finishes the groups of dead
 * holders, so it must run before the file is read.
 * @param accepts returns false for a text that is not a whole change: its process may be writing it
 * @param own the change of this process, which is withdrawn first
 * @returns undefined if the change of this process was already made
 */
export function takeWaiting(
  path: string,
  accepts: (text: string) => boolean,
  own: PostedChange,
): WaitingChange[] | undefined {
  const directory = directoryOf(path);
  if (entryOf(directory) === undefined) return own.withdraw() ? undefined : [];
  finishGroups(path);
  if (own.withdraw()) return undefined;
  const changes: WaitingChange[] = [];
  let characters = 0;
  for (const name of listDir(directory)) {
    const text = characters < MAX_CHARACTERS ? changeIn(join(directory, name)) : undefined;
    if (text === undefined || !accepts(text)) continue;
    changes.push({ name, text });
    characters += text.length;
  }
  // If no change waits, only killed processes have left files here.
  if (changes.length === 0) removeIfEmpty(directory);
  return changes;
}

/**
 * Finishes the groups of dead holders. Call it only in a turn.
 * @returns whether a process that may still run has not yet seen that its change is in the file
 */
export function finishGroups(path: string): boolean {
  const files = (): string[] => listDir(directoryOf(path));
  for (const record of files().filter((file) => file.startsWith(GROUP))) finishGroup(path, record);
  return files().some((file) => file.endsWith(DONE) && ownerLiveness(file.slice(0, -DONE.length)) !== "dead");
}

/** Returns the text of a posted change. Removes the change instead if its process is dead. */
function changeIn(file: string): string | undefined {
  const name = basename(file);
  if (ownerOf(name) === undefined) return undefined;
  const age = systemClock.now() - Number(entryOf(file)?.mtimeMs ?? Number.NaN);
  const liveness = age < FRESH_MS ? "alive" : ownerLiveness(name);
  if (liveness === "dead" || (liveness === "unknown" && age > ABANDONED_MS)) {
    removeFile(file);
    return undefined;
  }
  return isAcknowledged(name) ? undefined : readText(file);
}

function isAcknowledged(name: string): boolean {
  return name.endsWith(DONE) || name.endsWith(LEFT);
}

/** A staged file with the changes of other processes. */
export interface Group {
  /** Returns whether all these processes still wait. Call it right before the rename. */
  isWhole(): boolean;
  /** Acknowledges the changes; the next holder repeats what the system refuses. Call it in the same turn, once the file is on disk. */
  confirm(): void;
  /** Call it before the staged file is discarded, instead of `confirm`. */
  drop(): void;
}

/** Records that a staged file contains these changes. @throws a system error; then there is no record */
export function recordGroup(path: string, staged: string, changes: readonly WaitingChange[]): Group {
  const directory = directoryOf(path);
  const record = join(directory, `${GROUP}${basename(staged)}`);
  try {
    writeNew(record, changes.map(({ name }) => `${name}\n`).join(""), undefined, false);
  } catch (error) {
    // The staged file is discarded next. A record without one means that the changes are in the file.
    removeFile(record);
    throw error;
  }
  return {
    isWhole: () => changes.every(({ name }) => entryOf(join(directory, name)) !== undefined),
    confirm: () => {
      try {
        for (const { name } of changes) acknowledge(path, name);
        removeFile(record);
      } catch (error) {
        // The changes are made: an error would say that they are not. The record stays, so the next holder finishes the group.
        if (!isSystemError(error)) throw error;
      }
    },
    drop: () => {
      removeFile(record);
      removeFile(voidOf(staged));
    },
  };
}

function acknowledge(path: string, name: string): void {
  const file = join(directoryOf(path), name);
  const done = `${file}${DONE}`;
  if (!renameIfThere(file, done)) renameIfThere(`${file}${LEFT}`, done);
}

/** Finishes the group of a holder that has died or lost the queue. */
function finishGroup(path: string, record: string): void {
  const outcome = decide(path, record);
  if (outcome === "made") {
    syncNames(dirname(path));
    for (const name of changesOf(path, record) ?? []) acknowledge(path, name);
  }
  // Before the voided file: as long as the record exists, that file tells how the group ended.
  removeFile(join(directoryOf(path), record));
  removeFile(voidOf(stagedOf(path, record)));
}

/**
 * Decides for good whether the changes of a group are in the file. They are if the staged file was renamed to it. If not, the
 * staged file gets another name: its holder, which may only have been stopped, can then no longer rename it.
 * @returns "over" if the holder finished or dropped the group meanwhile: an acknowledgement then shows what was made
 */
function decide(path: string, record: string): "made" | "void" | "over" {
  const staged = stagedOf(path, record);
  if (renameIfThere(staged, voidOf(staged)) || entryOf(voidOf(staged)) !== undefined) return "void";
  return entryOf(join(directoryOf(path), record)) === undefined ? "over" : "made";
}

/** Returns the names of the changes in a group; undefined if its holder has not finished the record, and so not renamed the file. */
function changesOf(path: string, record: string): readonly string[] | undefined {
  const text = readText(join(directoryOf(path), record)) ?? "";
  return text.endsWith("\n") ? text.trimEnd().split("\n") : undefined;
}

function stagedOf(path: string, record: string): string {
  return join(dirname(path), record.slice(GROUP.length));
}

/** Returns the name of a voided staged file, which is also a temporary name of the same process. */
function voidOf(staged: string): string {
  return join(dirname(staged), `.void${basename(staged)}`);
}

function renameIfThere(from: string, to: string): boolean {
  try {
    rename(from, to);
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

/**
 * Returns whether a temporary file belongs to a group that is not finished: only the holder of the queue may remove it then. Without
 * a voided file, its group would count as made.
 */
export function isGrouped(temporary: string): boolean {
  const name = basename(temporary);
  return [name, name.replace(/^\.void\./, ".")].some((staged) => hasRecord(dirname(temporary), staged));
}

function hasRecord(directory: string, staged: string): boolean {
  const file = /^\.(.+)\.[1-9][0-9]*\.[0-9a-z]+\.tmp$/.exec(staged)?.[1] ?? "";
  return entryOf(join(directoryOf(join(directory, file)), `${GROUP}${staged}`)) !== undefined;
}
