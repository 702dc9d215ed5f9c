import { randomUUID } from "node:crypto";
import { systemClock } from "../os/clock.ts";
import { entryOf, removeFile } from "../os/fs.ts";
import { livenessOf, ownIdentity } from "../os/identity.ts";
import { createRecordLink, readRecordLink } from "../os/links.ts";
import { STALE_MS } from "../os/shared-lock.ts";
import { type ProcessIdentity, processIdentity } from "../schema/process.ts";

let self: ProcessIdentity | undefined;

/** A record that says who holds a lock: this process, and a uuid of this very taking. */
export function ownerRecord(): string {
  self ??= ownIdentity();
  return JSON.stringify({ ...self, taken: randomUUID() });
}

/** Who wrote a record; undefined when it is not one of ours. */
export function ownerOf(record: string): ProcessIdentity | undefined {
  try {
    return processIdentity.safeParse(JSON.parse(record)).data;
  } catch {
    // Not JSON: written by nobody we know, so that the time rule alone judges it.
    return undefined;
  }
}

/** Whether the process that wrote a record is known to be gone. */
export function ownerIsDead(record: string): boolean {
  const owner = ownerOf(record);
  return owner !== undefined && livenessOf(owner) === "dead";
}

/** A lock file that names its owner: a link whose text is the owner's record. */
export interface OwnerLock {
  readonly record: string;
  owned(): boolean;
  release(): void;
}

/**
 * Takes the lock file at `path`: at once when it is free or its owner is dead; after 10 s when its owner cannot be judged
 * from here (another machine, another container). To take over, one first holds `<path>~`, so that two that have seen
 * the same dead owner never remove each other's new lock.
 * @returns undefined while somebody holds it
 */
export function takeOwnerLock(path: string): OwnerLock | undefined {
  const record = ownerRecord();
  if (createRecordLink(path, record)) return ownerLock(path, record);
  const seen = readRecordLink(path);
  if (seen === undefined || !hasLapsed(path, seen)) return undefined;
  const heir = takeOwnerLock(`${path}~`);
  if (heir === undefined) return undefined;
  try {
    if (readRecordLink(path) === seen) removeFile(path);
  } finally {
    heir.release();
  }
  return createRecordLink(path, record) ? ownerLock(path, record) : undefined;
}

function hasLapsed(path: string, record: string): boolean {
  const owner = ownerOf(record);
  const liveness = owner === undefined ? "unknown" : livenessOf(owner);
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
