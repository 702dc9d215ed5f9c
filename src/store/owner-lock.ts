import { systemClock } from "../os/clock.ts";
import { entryOf, removeFile } from "../os/files/fs.ts";
import { STALE_MS } from "../os/files/lock-directory.ts";
import { createRecordLink, readRecordLink } from "../os/files/symlink-record.ts";
import { type Liveness, ownIdentity, startTimeOf } from "../os/process/identity.ts";
import { newUuid } from "../os/uuid.ts";
import { sha256 } from "../protocol/sha256.ts";

/**
 * Who holds a lock. As a record it is one line of less than 60 characters, which a file system keeps inside the link
 * itself: the pid, short hashes of the rest of the process's identity, and a word for what it holds.
 */
interface Owner {
  readonly pid: number;
  readonly start: string;
  readonly host: string;
  readonly space: string;
  readonly boot: string;
  readonly word: string;
}

let self: Omit<Owner, "word"> | undefined;

/** A record of this process. @param word no dots; a random one tells this taking from every other */
export function ownerRecord(word: string = newUuid().slice(0, 13)): string {
  const { pid, start, host, space, boot } = ownOwner();
  return [pid, start, host, space, boot, word].join(".");
}

/** Who wrote a record; undefined when it is not one of ours. */
export function ownerOf(record: string): Owner | undefined {
  const [pid = "", start, host, space, boot, word] = record.split(".");
  if (!/^[1-9][0-9]*$/.test(pid) || !start || !host || !space || !boot || !word) return undefined;
  return { pid: Number(pid), start, host, space, boot, word };
}

/** Whether the process that wrote a record still runs; `unknown` for one that cannot be judged from here. */
export function ownerLiveness(record: string): Liveness {
  const owner = ownerOf(record);
  const own = ownOwner();
  if (owner === undefined || owner.host !== own.host) return "unknown";
  if (owner.boot !== own.boot) return "dead";
  if (owner.space !== own.space) return "unknown";
  const start = startTimeOf(owner.pid);
  return start !== undefined && tag(start) === owner.start ? "alive" : "dead";
}

function ownOwner(): Omit<Owner, "word"> {
  if (self !== undefined) return self;
  const { pid, procStart, pidSpace = "", bootId = "" } = ownIdentity();
  const host = pidSpace.split("#")[0] ?? "";
  self = { pid, start: tag(procStart), host: tag(host), space: tag(pidSpace), boot: tag(bootId) };
  return self;
}

/** 36 bits: enough to tell one boot, host or start from another. */
function tag(text: string): string {
  return Buffer.from(sha256(text), "hex").toString("base64url").slice(0, 6);
}

/** A lock file that names its owner: a link whose text is the owner's record. */
export interface OwnerLock {
  readonly record: string;
  owned(): boolean;
  release(): void;
}

/**
 * Seeks the lock file at `path`: it is taken at once when it is free or its owner is dead; after 10 s when its owner cannot be
 * judged from here (another machine, another container).
 * @returns one try, undefined while somebody holds it; to be called again after a while. Where one owner follows the other,
 *   as under load, a try is no more than a look.
 */
export function seekOwnerLock(path: string): () => OwnerLock | undefined {
  let before: string | undefined;
  return () => {
    const seen = readRecordLink(path);
    if (seen === undefined) return newOwnerLock(path);
    const isSuccessor = before !== undefined && before !== seen;
    before = seen;
    return isSuccessor || !hasLapsed(path, seen) ? undefined : inherit(path, seen);
  };
}

/** To take over, one first holds `<path>~`, so that two that have seen the same dead owner never remove each other's new lock. */
function inherit(path: string, seen: string): OwnerLock | undefined {
  const heir = seekOwnerLock(`${path}~`)();
  if (heir === undefined) return undefined;
  try {
    if (readRecordLink(path) === seen) removeFile(path);
  } finally {
    heir.release();
  }
  return newOwnerLock(path);
}

function newOwnerLock(path: string): OwnerLock | undefined {
  const record = ownerRecord();
  return createRecordLink(path, record) ? ownerLock(path, record) : undefined;
}

function hasLapsed(path: string, record: string): boolean {
  const liveness = ownerLiveness(record);
  if (liveness !== "unknown") return liveness === "dead";
  const entry = entryOf(path);
  return entry !== undefined && Number(entry.mtimeMs) < systemClock.now() - STALE_MS;
}

function ownerLock(path: string, record: string): OwnerLock {
  const owned = (): boolean => readRecordLink(path) === record;
  return {
    record,
    owned,
    release: () => {
      if (owned()) removeFile(path);
    },
  };
}
