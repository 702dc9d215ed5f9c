import { join } from "node:path";
import type { Readable } from "node:stream";
import { type Clock, pause, systemClock } from "../../os/clock.ts";
import { formatJson } from "../../os/files/atomic-write.ts";
import { entryOf, listDir, readFrom } from "../../os/files/fs.ts";
import { type FileToPack, packArchive, packedSize, wholeLinesOf } from "../../os/files/tar.ts";
import { agentFileName, planPath, transcriptPath } from "../../protocol/paths.ts";
import { readMetadata } from "../../schema/member-metadata.ts";
import { isSessionId } from "../../schema/names.ts";
import { task, watermarkOf } from "../../schema/task.ts";
import { corruptFile, readJsonFile } from "../../store/json-file.ts";
import { rotatedPath } from "../../telemetry/event-log.ts";
import { readTeam } from "../config/config.ts";
import { readExit, readStatus } from "../records/read-records.ts";
import type { TeamRef } from "../ref.ts";
import { IN_ARCHIVE, placeInArchive } from "./layout.ts";
import { ARCHIVE_VERSION, type ArchiveManifest } from "./manifest.ts";

/** Reading takes milliseconds, and a team changes its files a few times a second: this many attempts find a quiet moment. */
const MAX_ATTEMPTS = 20;
/** Milliseconds between two attempts: the time that a change of several files takes. */
const RETRY_MS = 20;

/** A team as one file. */
export interface TeamArchive {
  readonly team: string;
  /** Number of files in it. */
  readonly files: number;
  /**
   * True if all files are from the same moment. If the team never paused, each file is complete and no message is lost,
   * but the files may not match.
   */
  readonly consistent: boolean;
  /** The bytes of the `.tar.gz`; read them at once. */
  readonly bytes: Readable;
}

/**
 * Exports a team into one archive: config, messages, tasks, and the members' states, conversations and plans. Takes no
 * lock and writes nothing, so it does not disturb a running team, even one of another program.
 * @throws TeamError TEAM_NOT_FOUND; CORRUPT_FILE for an unreadable config, task or watermark
 */
export async function exportTeam(ref: TeamRef, clock: Clock = systemClock): Promise<TeamArchive> {
  const { files, consistent } = await takeSnapshot(ref);
  const at = clock.now();
  const manifest: ArchiveManifest = {
    format: "tmux-teams",
    version: ARCHIVE_VERSION,
    team: ref.team,
    at,
    files: files.map((file) => ({ name: file.name, size: packedSize(file) })),
  };
  const all = [{ name: IN_ARCHIVE.manifest, content: Buffer.from(formatJson(manifest)) }, ...files];
  // In one folder, so that unpacking by hand creates only that.
  const inFolder = all.map((file) => ({ ...file, name: `${ref.team}/${file.name}` }));
  return { team: ref.team, files: files.length, consistent, bytes: packArchive(inFolder, at) };
}

interface Snapshot {
  readonly files: readonly FileToPack[];
  readonly consistent: boolean;
}

/** Reads all files, again if one of them changed meanwhile. Of files that only grow, only the length is read now. */
async function takeSnapshot(ref: TeamRef): Promise<Snapshot> {
  for (let attempts = 1; ; attempts += 1) {
    const before = fingerprint(ref);
    const files = [...sourcesOf(ref).flatMap(readSource), ...recordsOf(ref)];
    if (before === fingerprint(ref)) return { files, consistent: true };
    if (attempts === MAX_ATTEMPTS) return { files, consistent: false };
    await pause(RETRY_MS);
  }
}

interface Source {
  readonly name: string;
  readonly path: string;
  /** Other processes append to it, and never change existing content. */
  readonly grows?: boolean;
}

/**
 * Returns the files that are exported unchanged. A message moves from an inbox to a conversation to the journal, so they
 * are read in this order, and every message is found at least once.
 */
function sourcesOf(ref: TeamRef): Source[] {
  const { paths, home } = ref;
  const inDir = (directory: string, nameOf: (file: string) => string): Source[] =>
    listDir(directory).map((file) => ({ name: nameOf(file), path: join(directory, file) }));
  const members = readTeam(ref).members.map(({ name }) => name);
  return [
    ...inDir(paths.tasks, IN_ARCHIVE.task),
    ...inDir(paths.inboxes, IN_ARCHIVE.inbox),
    ...inDir(paths.requests, IN_ARCHIVE.request),
    ...inDir(paths.dir, (file) => file).filter(({ name }) => placeInArchive(name)?.kind === "broken"),
    ...members.map((name) => ({
      name: IN_ARCHIVE.plan(agentFileName(name)),
      path: planPath(home.root, ref.team, name),
    })),
    ...sessionsOf(ref).map((id) => ({
      name: IN_ARCHIVE.conversation(id),
      path: transcriptPath(home.root, id),
      grows: true,
    })),
    { name: IN_ARCHIVE.olderEvents, path: rotatedPath(paths.events), grows: true },
    { name: IN_ARCHIVE.events, path: paths.events, grows: true },
    { name: IN_ARCHIVE.journal, path: paths.journal, grows: true },
  ].filter(({ name, path }) => placeInArchive(name) !== undefined && entryOf(path)?.isFile());
}

function sessionsOf(ref: TeamRef): string[] {
  const { members, leadSessionId } = readTeam(ref);
  const ids = members.flatMap((member) => [
    readStatus(ref, member.name)?.sessionId,
    readMetadata(member, "session"),
  ]);
  return [...new Set([...ids, leadSessionId])].filter(isSessionId);
}

/** Returns a string that changes if a file changes, or a member joins or leaves. */
function fingerprint(ref: TeamRef): string {
  const marks = sourcesOf(ref).map(({ path }) => {
    const entry = entryOf(path);
    return entry === undefined ? "" : `${path} ${entry.ino} ${entry.size} ${entry.mtimeMs}`;
  });
  return [...marks, ...readTeam(ref).members.map(({ agentId }) => agentId)].join("\n");
}

function readSource({ name, path, grows }: Source): FileToPack[] {
  const kind = placeInArchive(name)?.kind;
  // An unreadable task could not be imported; report it now.
  if (kind === "task") readJsonFile(path, task);
  const content = grows ? wholeLinesOf(path) : readFrom(path, 0);
  if (kind === "highWaterMark" && content !== undefined) assertWatermark(path, String(content));
  return content === undefined ? [] : [{ name, content }];
}

function assertWatermark(path: string, text: string): void {
  if (watermarkOf(text) === undefined) throw corruptFile(path, "it is not a number");
}

/** Returns the records that agents rewrite constantly, which the snapshot does not wait for: config and members' states. */
function recordsOf(ref: TeamRef): FileToPack[] {
  const config = readTeam(ref);
  const record = (name: string, value: unknown): FileToPack[] =>
    value === undefined ? [] : [{ name, content: Buffer.from(formatJson(value)) }];
  return [
    ...record(IN_ARCHIVE.config, config),
    ...config.members.flatMap(({ name }) => [
      ...record(IN_ARCHIVE.status(agentFileName(name)), readStatus(ref, name)),
      ...record(IN_ARCHIVE.exit(agentFileName(name)), readExit(ref, name)),
    ]),
  ];
}
