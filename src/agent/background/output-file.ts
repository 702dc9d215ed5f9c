import { createHash } from "node:crypto";
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
/** Characters of later output that are kept in memory: the newest ones. */
const MAX_NEWEST = 30_000;

/**
 * A private file for the whole output of a command, with secrets redacted. A write error ends neither the command nor the
 * agent: it is recorded in {@link problem}, and nothing more is written.
 */
export class OutputFile {
  readonly path: string;
  problem: string | undefined;
  private readonly masks;
  /** The newest output since the file was full; undefined while the file holds everything. */
  newest: string | undefined;
  private readonly room: number;
  private isThere = false;
  private written = 0;

  /** @param room maximum characters of the file */
  constructor(cwd: string, toolUseId: string, secrets: readonly string[], room = MAX_CHARACTERS) {
    this.path = outputPath(cwd, toolUseId);
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

  /** Writes the rest that redaction has held back. Call once, after all output. */
  end(): void {
    this.write(this.masks.stdout.end() + this.masks.stderr.end());
  }

  private write(text: string): void {
    const part = textStart(text, this.room - this.written);
    if (part !== "") this.append(part);
    if (part.length === text.length || this.problem !== undefined) return;
    if (this.newest === undefined) this.append(`\n… (cut here, after ${this.room} characters)\n`);
    this.newest = textEnd(`${this.newest ?? ""}${text.slice(part.length)}`, MAX_NEWEST);
  }

  private append(part: string): void {
    if (this.problem !== undefined) return;
    try {
      if (!this.isThere) this.makePlace();
      try {
        appendPrivate(this.path, part);
      } catch (error) {
        // A sweep of old files may have removed the empty directory.
        if (!isMissing(error)) throw error;
        this.makePlace();
        appendPrivate(this.path, part);
      }
      this.written += part.length;
    } catch (error) {
      this.problem = messageOf(error);
    }
  }

  private makePlace(): void {
    ensureOwnDirectory(scratchDirectory());
    if (!this.isThere) sweep();
    ensureDir(dirname(this.path));
    this.isThere = true;
  }
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

/** Returns `<output directory>/<id>.output`; an unusual id, which comes from a server, is hashed first. */
function outputPath(cwd: string, id: string): string {
  const name = /^[A-Za-z0-9_-]{1,100}$/.test(id) ? id : hash(id);
  return join(outputDirectory(cwd), `${name}.output`);
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}
