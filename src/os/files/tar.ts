import {
  closeSync,
  constants,
  createReadStream,
  createWriteStream,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { open } from "node:fs/promises";
import { Readable, Transform, type Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";
import { extract, type Header, type Pack, pack } from "tar-stream";
import { isSystemError, messageOf, systemCode, TeamError } from "../../errors.ts";
import { pause } from "../clock.ts";
import { confirmName } from "./atomic-write.ts";
import { fileSize, makePrivate, PRIVATE_FILE, readFrom, temporaryBeside } from "./fs.ts";
import { realPathOf } from "./symlinks.ts";
import { isSpecialFile } from "./user-files.ts";

/** The first bytes of a file that only grows: its content at one moment, read later. */
interface FileStart {
  readonly path: string;
  readonly length: number;
}

/** One file of an archive that is being written. */
export interface FileToPack {
  readonly name: string;
  readonly content: Uint8Array | FileStart;
}

/** Size of the first chunk that is searched for a line end; most lines are shorter. */
const FIRST_CHUNK = 64 * 1024;

/** Returns the whole lines of a file that other processes append to; undefined if it is missing. */
export function wholeLinesOf(path: string): FileStart | undefined {
  const size = fileSize(path);
  if (size === undefined) return undefined;
  for (let back = FIRST_CHUNK; ; back *= 2) {
    const from = Math.max(0, size - back);
    const end = readFrom(path, from)?.lastIndexOf(0x0a) ?? -1;
    if (end >= 0) return { path, length: from + end + 1 };
    if (from === 0) return { path, length: 0 };
  }
}

/** Returns the size of a file in an archive, in bytes. */
export function packedSize({ content }: FileToPack): number {
  return content instanceof Uint8Array ? content.byteLength : content.length;
}

/**
 * Returns the bytes of a `.tar.gz` with these files, produced on demand. An unreadable file destroys the stream.
 * @param at the modification time of every file, in milliseconds since the epoch
 */
export function packArchive(files: Iterable<FileToPack>, at: number): Readable {
  const tar = pack();
  const zipped = createGzip();
  pipeline(Readable.from(tar), zipped).catch((error: Error) => zipped.destroy(error));
  feed(tar, files, new Date(at)).catch((error: Error) => tar.destroy(error));
  return zipped;
}

async function feed(tar: Pack, files: Iterable<FileToPack>, mtime: Date): Promise<void> {
  for (const file of files) await add(tar, file, mtime);
  tar.finalize();
}

function add(tar: Pack, file: FileToPack, mtime: Date): Promise<void> {
  const header = { name: file.name, size: packedSize(file), mode: PRIVATE_FILE, mtime };
  return new Promise((resolve, reject) => {
    const entry = tar.entry(header, (error) => (error ? reject(error) : resolve()));
    // A file that became shorter does not fill its entry, which is an error.
    pipeline(Readable.from(bytesOf(file)), entry).catch(reject);
  });
}

async function* bytesOf({ content }: FileToPack): AsyncGenerator<Uint8Array> {
  if (content instanceof Uint8Array) yield content;
  else if (content.length > 0) yield* createReadStream(content.path, { start: 0, end: content.length - 1 });
}

/** Writes a stream to a new file, 0600 and synced to disk; the name must be free. */
export async function saveBytes(
  path: string,
  bytes: AsyncIterable<Uint8Array>,
  signal?: AbortSignal,
): Promise<void> {
  const file = createWriteStream(path, { flags: "wx", mode: PRIVATE_FILE, flush: true });
  await pipeline(bytes, file, { ...(signal && { signal }) });
  makePrivate(path);
}

/**
 * Writes a stream to a file that may exist: it is replaced once the new content is completely on disk, or not at all. A link is
 * followed. A pipe or a device is written in place.
 * @returns the number of bytes
 * @throws the reason of `signal`; TeamError STORAGE_ERROR or PERMISSION_DENIED if the file was replaced but its name not synced
 */
export async function replaceWithBytes(
  path: string,
  bytes: AsyncIterable<Uint8Array>,
  signal?: AbortSignal,
): Promise<number> {
  signal?.throwIfAborted();
  if (isSpecialFile(path)) return writeInPlace(path, bytes, signal);
  const real = realPathOf(path);
  const temporary = temporaryBeside(real);
  let size: number;
  try {
    await saveBytes(temporary, bytes, signal);
    size = statSync(temporary).size;
    renameSync(temporary, real);
  } catch (error) {
    rmSync(temporary, { force: true });
    signal?.throwIfAborted();
    throw error;
  }
  confirmName(real);
  return size;
}

/** Writes a stream to a pipe or a device. Waits for the reader of a pipe; the signal ends the wait. */
async function writeInPlace(
  path: string,
  bytes: AsyncIterable<Uint8Array>,
  signal: AbortSignal | undefined,
): Promise<number> {
  let size = 0;
  const counted = async function* (): AsyncGenerator<Uint8Array> {
    for await (const part of bytes) {
      size += part.length;
      yield part;
    }
  };
  const reached = await openWithReader(path, signal);
  try {
    // Opened again: a write to the first descriptor would fail instead of waiting for a slow reader.
    const file = await open(path, constants.O_WRONLY);
    await pipeline(counted(), file.createWriteStream(), { ...(signal && { signal }) });
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  } finally {
    closeSync(reached);
  }
  return size;
}

/** Milliseconds between two attempts to open a pipe that no process reads. */
const READER_POLL_MS = 50;

/** Opens a file for writing. A blocking open of a pipe without a reader could not be cancelled. */
async function openWithReader(path: string, signal: AbortSignal | undefined): Promise<number> {
  for (;;) {
    try {
      return openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
    } catch (error) {
      if (systemCode(error) !== "ENXIO") throw error;
    }
    await pause(READER_POLL_MS, signal);
    signal?.throwIfAborted();
  }
}

/** Returns the bytes of a file. @throws a system error if it is missing */
export async function openedBytes(path: string): Promise<Readable> {
  return (await open(path)).createReadStream();
}

/** One file of an archive that is being read; its bytes must be read before the next file, or are skipped. */
export interface PackedFile {
  readonly name: string;
  readonly size: number;
  readonly bytes: AsyncIterable<Uint8Array>;
}

/**
 * Reads a `.tar.gz` with regular files only, one after the other.
 * @param maxBytes maximum number of decompressed bytes; a small archive that expands to far more is refused earlier
 * @throws TeamError CORRUPT_FILE for any other content, errors of `take`, and the reason of `signal`
 */
export async function readArchive(
  source: AsyncIterable<Uint8Array>,
  maxBytes: number,
  take: (file: PackedFile) => Promise<void>,
  signal?: AbortSignal,
): Promise<void> {
  const tar = extract();
  const sink = tar as unknown as Writable;
  const packed = new Counter();
  const flow = pipeline(source, packed, createGunzip(), bounded(maxBytes, packed), sink, {
    ...(signal && { signal }),
  });
  // Waits for both: if one fails, it ends the other one, which then reports a premature end.
  const ends = await Promise.allSettled([takeAll(tar as unknown as AsyncIterable<PackedEntry>, take), flow]);
  signal?.throwIfAborted();
  const [refused, broken] = ends.map((end) => (end.status === "rejected" ? end.reason : undefined));
  if (refused !== undefined && isSelfExplaining(refused)) throw refused;
  if ((broken ?? refused) !== undefined) throw unreadable(broken ?? refused);
}

/** An entry of tar-stream: not a stream of Node, but Node can iterate over it. */
type PackedEntry = AsyncIterable<Uint8Array> & { readonly header: Header; resume(): void };

async function takeAll(
  tar: AsyncIterable<PackedEntry>,
  take: (file: PackedFile) => Promise<void>,
): Promise<void> {
  for await (const entry of tar) {
    const { name, type, size } = entry.header;
    if (type !== "file") throw notRegular(name, type);
    await take({ name, size, bytes: entry });
    entry.resume();
  }
}

/** Maximum number of decompressed bytes for each compressed byte; conversations and logs have at most a few dozen. */
const MAX_RATIO = 200;
/** Bytes below which any ratio is harmless. */
const HARMLESS = 64 * 1024 * 1024;

class Counter extends Transform {
  bytes = 0;

  override _transform(
    chunk: Uint8Array,
    _encoding: string,
    done: (error: null, chunk: Uint8Array) => void,
  ): void {
    this.bytes += chunk.byteLength;
    done(null, chunk);
  }
}

function bounded(maxBytes: number, packed: Counter): Transform {
  let bytes = 0;
  return new Transform({
    transform(chunk: Uint8Array, _encoding, done) {
      bytes += chunk.byteLength;
      if (bytes > maxBytes) done(tooMuch(`more than ${maxBytes} bytes`));
      else if (bytes > HARMLESS && bytes > MAX_RATIO * packed.bytes)
        done(tooMuch(`more than ${MAX_RATIO} bytes for each compressed byte`));
      else done(null, chunk);
    },
  });
}

const EXPORT_AGAIN = "Export the team again: teams export <team>";

function notRegular(name: string, type: string): TeamError {
  return new TeamError(
    "CORRUPT_FILE",
    `The archive contains a ${type} (${JSON.stringify(name)}); only regular files are allowed. Nothing was created.`,
    { hint: EXPORT_AGAIN },
  );
}

function tooMuch(what: string): TeamError {
  return new TeamError("CORRUPT_FILE", `The archive contains ${what}. Nothing was created.`, {
    hint: EXPORT_AGAIN,
  });
}

function unreadable(reason: unknown): unknown {
  if (isSelfExplaining(reason)) return reason;
  return new TeamError(
    "CORRUPT_FILE",
    `The archive is not a complete .tar.gz: ${messageOf(reason)}. Nothing was created.`,
    {
      hint: EXPORT_AGAIN,
      cause: reason,
    },
  );
}

/** True for a TeamError, a system error or a programming error: its message needs no explanation. */
function isSelfExplaining(reason: unknown): boolean {
  return reason instanceof TeamError || isSystemError(reason) || reason instanceof TypeError;
}
