import { createHash, randomUUID } from "node:crypto";
import { dirname, join } from "node:path";
import { messageOf } from "../../errors.ts";
import { systemClock } from "../../os/clock.ts";
import { ensureOwnDirectory, scratchDirectory } from "../../os/files/app-directories.ts";
import { appendPrivate, ensureDir, isMissing } from "../../os/files/fs.ts";
import { redactStream } from "../../os/redact.ts";
import { textEnd, textStart } from "../../text/characters/cut-text.ts";
import { sweepOutputs } from "./output-cleanup.ts";

/** Maximum characters of one file, so that endless output does not fill the disk. */
export const MAX_CHARACTERS = 64 * 1024 * 1024;
/** Maximum characters of later output that are kept in memory: the newest. */
const MAX_NEWEST = 30_000;
/** Maximum characters of output that are kept in memory while the file cannot be written: the newest. */
const MAX_UNWRITTEN = 1024 * 1024;

/**
 * A private file for the whole output of a command, with secrets redacted. A write error (a full disk) ends neither the command nor
 * the agent: unwritten output is kept, and written with the next output.
 */
export class OutputFile {
  readonly path: string;
  /** Why {@link unwritten} is not in the file; undefined if everything is. */
  problem: string | undefined;
  /** The newest output, as far as it could not be written yet. */
  unwritten = "";
  /** Characters before {@link unwritten} that were too many to be kept. */
  private dropped = 0;
  private readonly masks;
  /** The newest output since the file was full; undefined while the file contains everything. */
  newest: string | undefined;
  private readonly room: number;
  private isThere = false;
  private taken = 0;

  /**
   * @param id of this output alone; the id of a call is not, because some servers count the calls of each answer
   * @param room maximum characters of the file
   */
  constructor(cwd: string, id: string, secrets: readonly string[], room = MAX_CHARACTERS) {
    this.path = join(outputDirectory(cwd), `${id}.output`);
    this.room = room;
    this.masks = { stdout: redactStream(secrets), stderr: redactStream(secrets) };
  }

  /** Creates the empty file. */
  begin(): void {
    this.append("");
  }

  add(stream: "stdout" | "stderr", text: string): void {
    this.write(this.masks[stream].push(text));
  }

  /** Tries to write the unwritten output again. */
  retry(): void {
    if (this.problem !== undefined) this.append("");
  }

  /** Writes the rest that redaction has held back. Call once, after all output. */
  end(): void {
    this.write(this.masks.stdout.end() + this.masks.stderr.end());
    this.retry();
  }

  private write(text: string): void {
    const part = this.newest === undefined ? textStart(text, this.room - this.taken) : "";
    this.taken += part.length;
    if (part !== "") this.append(part);
    if (part.length === text.length) return;
    if (this.newest === undefined) this.append(`\n… (truncated here, after ${this.room} characters)\n`);
    this.newest = textEnd(`${this.newest ?? ""}${text.slice(part.length)}`, MAX_NEWEST);
  }

  private append(part: string): void {
    const text = `${this.unwritten}${part}`;
    const gap = this.dropped === 0 ? "" : `\n… (${this.dropped} characters are missing: ${this.problem})\n`;
    try {
      this.appendNow(`${gap}${text}`);
      this.problem = undefined;
      this.unwritten = "";
      this.dropped = 0;
    } catch (error) {
      this.problem = messageOf(error);
      this.unwritten = textEnd(text, MAX_UNWRITTEN);
      this.dropped += text.length - this.unwritten.length;
    }
  }

  private appendNow(text: string): void {
    if (!this.isThere) this.createDirectory();
    try {
      appendPrivate(this.path, text);
    } catch (error) {
      // A sweep of old files may have removed the empty directory.
      if (!isMissing(error)) throw error;
      this.createDirectory();
      appendPrivate(this.path, text);
    }
  }

  private createDirectory(): void {
    ensureOwnDirectory(scratchDirectory());
    if (!this.isThere) sweep();
    ensureDir(dirname(this.path));
    this.isThere = true;
  }
}

/** Returns a new file for the output of a command or a tool. */
export function newOutputFile(cwd: string, secrets: readonly string[]): OutputFile {
  return new OutputFile(cwd, randomUUID(), secrets);
}

/** Writes a whole text to a new file. */
export function saveOutput(cwd: string, text: string, secrets: readonly string[]): OutputFile {
  const file = newOutputFile(cwd, secrets);
  file.add("stdout", text);
  file.end();
  return file;
}

/** Sweeps old outputs. A failure must not prevent this output from being written. */
function sweep(): void {
  try {
    sweepOutputs(systemClock.now());
  } catch {
    // `teams doctor` reports files that could not be removed.
  }
}

/**
 * Returns the directory for the output of commands that run in `cwd`: `<scratch>/<cwd with / as ->/tasks`. Agents may read
 * it without permission, so a hash is appended if the name would be too long or could belong to another directory.
 */
export function outputDirectory(cwd: string): string {
  const place = cwd.replaceAll("/", "-");
  const isPlain = place.length <= 200 && !cwd.includes("-");
  return join(scratchDirectory(), isPlain ? place : `${textStart(place, 180)}-${hash(cwd)}`, "tasks");
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}
