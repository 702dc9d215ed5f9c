import { createHash } from "node:crypto";
import { dirname, join } from "node:path";
import { messageOf } from "../../errors.ts";
import { systemClock } from "../../os/clock.ts";
import { ensureOwnDirectory, scratchDirectory } from "../../os/files/app-directories.ts";
import { appendDurably, ensureDir, isMissing } from "../../os/files/fs.ts";
import { maskStream } from "../../os/redact.ts";
import { sweepOutputs } from "./output-cleanup.ts";

/** Characters that go into one file, so that a command that prints for ever fills no disk. */
export const MAX_CHARACTERS = 64 * 1024 * 1024;
/** Of what comes after them, the newest that are kept here. */
const MAX_NEWEST = 30_000;

/**
 * The private file that takes a command's whole output, with no secret in it. That it cannot be written is no reason to end
 * the command, or the agent: it is kept as {@link flaw}, and nothing more is written.
 */
export class OutputFile {
  readonly path: string;
  flaw: string | undefined;
  private readonly masks;
  /** The newest of what came after the file was full; undefined while it holds everything. */
  newest: string | undefined;
  private readonly room: number;
  private isThere = false;
  private written = 0;

  /** @param room characters that go into the file */
  constructor(cwd: string, toolUseId: string, secrets: readonly string[], room = MAX_CHARACTERS) {
    this.path = outputPath(cwd, toolUseId);
    this.room = room;
    this.masks = { stdout: maskStream(secrets), stderr: maskStream(secrets) };
  }

  /** Makes the file before there is anything to put into it. */
  begin(): void {
    this.append("");
  }

  add(stream: "stdout" | "stderr", text: string): void {
    this.write(this.masks[stream].push(text));
  }

  /** Nothing more comes. */
  end(): void {
    this.write(this.masks.stdout.end() + this.masks.stderr.end());
  }

  private write(text: string): void {
    const part = text.slice(0, Math.max(0, this.room - this.written));
    if (part !== "") this.append(part);
    if (part.length === text.length || this.flaw !== undefined) return;
    if (this.newest === undefined) this.append(`\n… (cut here, after ${this.room} characters)\n`);
    this.newest = `${this.newest ?? ""}${text.slice(part.length)}`.slice(-MAX_NEWEST);
  }

  private append(part: string): void {
    if (this.flaw !== undefined) return;
    try {
      if (!this.isThere) this.makePlace();
      try {
        appendDurably(this.path, part, false);
      } catch (error) {
        // Whoever clears up old files may have taken an empty directory along.
        if (!isMissing(error)) throw error;
        this.makePlace();
        appendDurably(this.path, part, false);
      }
      this.written += part.length;
    } catch (error) {
      this.flaw = messageOf(error);
    }
  }

  private makePlace(): void {
    ensureOwnDirectory(scratchDirectory());
    if (!this.isThere) sweep();
    ensureDir(dirname(this.path));
    this.isThere = true;
  }
}

/** What others left is no reason to keep nothing of this one. */
function sweep(): void {
  try {
    sweepOutputs(systemClock.now());
  } catch {
    // `teams doctor` names what could not be removed.
  }
}

/**
 * Where the output of commands goes that run in this directory: `<scratch>/<cwd with / as ->/tasks`, which ends in a hash where it
 * would be too long, or another directory's as well: whoever works there may read it unasked.
 */
export function outputDirectory(cwd: string): string {
  const place = cwd.replaceAll("/", "-");
  const isPlain = place.length <= 200 && !cwd.includes("-");
  return join(scratchDirectory(), isPlain ? place : `${place.slice(0, 180)}-${hash(cwd)}`, "tasks");
}

/** `<id>.output` there; an id that a server made up reaches no path as it is. */
function outputPath(cwd: string, id: string): string {
  const name = /^[A-Za-z0-9_-]{1,100}$/.test(id) ? id : hash(id);
  return join(outputDirectory(cwd), `${name}.output`);
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}
