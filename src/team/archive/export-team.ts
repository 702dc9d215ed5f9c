import { join } from "node:path";
import type { Readable } from "node:stream";
import { type Clock, pause, systemClock } from "../../os/clock.ts";
import { entryOf, listDir, readFrom } from "../../os/files/fs.ts";
import { type FileToPack, packArchive, packedSize, wholeLinesOf } from "../../os/files/tar.ts";
import { agentFileName, planPath, transcriptPath } from "../../protocol/paths.ts";
import { ARCHIVE_VERSION, type ArchiveManifest } from "../../schema/archive.ts";
import { task, watermarkOf } from "../../schema/task.ts";
import { formatJson } from "../../store/format-json.ts";
import { corruptFile, readJsonFile } from "../../store/json-file.ts";
import { olderLog } from "../../telemetry/event-log.ts";
import { readTeam } from "../config/config.ts";
import { readExit, readStatus } from "../records/read-records.ts";
import type { TeamRef } from "../ref.ts";
import { IN_ARCHIVE, isSessionId, placeInArchive } from "./layout.ts";

/** A look takes milliseconds, and a team changes its files some times a second: this many find a moment in between. */
const MAX_ATTEMPTS = 20;
/** Milliseconds between two looks: as long as a change of several files takes. */
const RETRY_MS = 20;

/** A team as one file. */
export interface TeamArchive {
  readonly team: string;
  /** How many files are in it. */
  readonly files: number;
  /**
   * Whether all of them are of one moment. A team that never paused is taken file by file: each is whole, and no message is
   * in none of them.
   */
  readonly isOneMoment: boolean;
  /** The bytes of the `.tar.gz`, to be read at once. */
  readonly bytes: Readable;
}

/**
 * Puts all that is kept of a team into one archive: config, messages, tasks, and the members' states, conversations and
 * plans. No lock is taken and nothing is written, so that a living team, also a foreign one, does not notice.
 * @throws TeamError TEAM_NOT_FOUND, CORRUPT_FILE for a config, a task or a watermark that cannot be read
 */
export async function exportTeam(ref: TeamRef, clock: Clock = systemClock): Promise<TeamArchive> {
  const { files, isOneMoment } = await takeSnapshot(ref);
  const at = clock.now();
  const manifest: ArchiveManifest = {
    format: "tmux-teams",
    version: ARCHIVE_VERSION,
    team: ref.team,
    at,
    files: files.map((file) => ({ name: file.name, size: packedSize(file) })),
  };
  const all = [{ name: IN_ARCHIVE.manifest, content: Buffer.from(formatJson(manifest)) }, ...files];
  // Below one folder, so that unpacking it by hand fills no directory.
  const inFolder = all.map((file) => ({ ...file, name: `${ref.team}/${file.name}` }));
  return { team: ref.team, files: files.length, isOneMoment, bytes: packArchive(inFolder, at) };
}

interface Snapshot {
  readonly files: readonly FileToPack[];
  readonly isOneMoment: boolean;
}

/** Reads everything, and again while something of it changes. What only grows is measured now and read later. */
async function takeSnapshot(ref: TeamRef): Promise<Snapshot> {
  for (let looks = 1; ; looks += 1) {
    const before = fingerprint(ref);
    const files = [...sourcesOf(ref).flatMap(readSource), ...recordsOf(ref)];
    if (before === fingerprint(ref)) return { files, isOneMoment: true };
    if (looks === MAX_ATTEMPTS) return { files, isOneMoment: false };
    await pause(RETRY_MS);
  }
}

interface Source {
  readonly name: string;
  readonly path: string;
  /** Others append to it and never change what is there. */
  readonly grows?: boolean;
}

/**
 * Every file that goes in as it is. Inboxes stand before conversations and these before the journal: in this order a
 * message on its way from one to the next is met at least once.
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
    ...sessionsOf(ref, members).map((id) => ({
      name: IN_ARCHIVE.conversation(id),
      path: transcriptPath(home.root, id),
      grows: true,
    })),
    { name: IN_ARCHIVE.olderEvents, path: olderLog(paths.events), grows: true },
    { name: IN_ARCHIVE.events, path: paths.events, grows: true },
    { name: IN_ARCHIVE.journal, path: paths.journal, grows: true },
  ].filter(({ name, path }) => placeInArchive(name) !== undefined && entryOf(path)?.isFile());
}

function sessionsOf(ref: TeamRef, members: readonly string[]): string[] {
  const ids = members.flatMap((name) => readStatus(ref, name)?.sessionId ?? []);
  return [...new Set([...ids, readTeam(ref).leadSessionId])].filter(isSessionId);
}

/** Another text as soon as one of the files has changed, or somebody has joined or left. */
function fingerprint(ref: TeamRef): string {
  const marks = sourcesOf(ref).map(({ path }) => {
    const entry = entryOf(path);
    return entry === undefined ? "" : `${path} ${entry.ino} ${entry.size} ${entry.mtimeMs}`;
  });
  return [...marks, ...readTeam(ref).members.map(({ agentId }) => agentId)].join("\n");
}

function readSource({ name, path, grows }: Source): FileToPack[] {
  const kind = placeInArchive(name)?.kind;
  // One that cannot be read could not be restored either: better said now than then.
  if (kind === "task") readJsonFile(path, task);
  const content = grows ? wholeLinesOf(path) : readFrom(path, 0);
  if (kind === "highWaterMark" && content !== undefined) assertWatermark(path, String(content));
  return content === undefined ? [] : [{ name, content }];
}

function assertWatermark(path: string, text: string): void {
  if (watermarkOf(text) === undefined) throw corruptFile(path, "it is not a number");
}

/** What is rewritten at every step of an agent, and so is of no moment: the config and who was in which state. */
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
