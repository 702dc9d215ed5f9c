import { randomUUID } from "node:crypto";
import { dirname, join } from "node:path";
import type * as z from "zod/mini";
import { messageOf, TeamError } from "../../errors.ts";
import { formatJson, replaceFile } from "../../os/files/atomic-write.ts";
import { ensureDir, readText } from "../../os/files/fs.ts";
import { type PackedFile, saveBytes } from "../../os/files/tar.ts";
import { agentFileName } from "../../protocol/paths.ts";
import { type TeamConfig, teamConfig } from "../../schema/config.ts";
import { isNestedTooDeeply } from "../../schema/guards/nesting.ts";
import { readMetadata } from "../../schema/member-metadata.ts";
import { agentName, foldName, isTeamDir } from "../../schema/names.ts";
import { type ExitRecord, exitRecord, type StatusRecord, statusRecord } from "../../schema/status.ts";
import { taskNumbered, watermarkOf } from "../../schema/task.ts";
import { firstIssue, parseWithMessages } from "../../schema/zod-helpers.ts";
import { parseEntries, recoverEntries } from "../inbox/inbox-format.ts";
import { withoutGrants } from "./imported-rights.ts";
import { type ArchivedPlace, IN_ARCHIVE, placeInArchive } from "./layout.ts";
import { ARCHIVE_VERSION, type ArchiveManifest, archiveManifest } from "./manifest.ts";
import { importedConversation, importedJournal, importedTask } from "./rewrite-imported.ts";

/** Maximum number of files in one archive: ten times the number of tasks that task lists are designed for. */
const MAX_FILES = 100_000;

/** Hidden directories that contain an archive's files until all of them are unpacked. */
export interface Stage {
  /** Becomes the team's directory; conversations and plans are moved out of it first. */
  readonly team: string;
  /** Becomes the directory of the team's tasks. */
  readonly tasks: string;
}

/** The parts of an archive that depend on the copy's name and ids, so they are not in the stage yet. */
export interface Received {
  readonly manifest: ArchiveManifest;
  readonly config: TeamConfig;
  /** Keyed by the agent's file name. */
  readonly statuses: ReadonlyMap<string, StatusRecord>;
  readonly exits: ReadonlyMap<string, ExitRecord>;
  /** File names of the agents whose plans are in the stage. */
  readonly plans: ReadonlySet<string>;
  /** Original ids of the sessions whose conversations are in the stage, where they have the copy's ids. */
  readonly conversations: ReadonlySet<string>;
  /** Returns the copy's id of a session of the original. */
  readonly sessionOf: (id: string) => string;
  readonly tasks: number;
  /** Ids of tasks that an agent had claimed, and that are unassigned in the copy. */
  readonly freed: readonly string[];
  readonly requests: number;
  /** Unread messages that would have given rights, and that count as read in the copy. */
  readonly grants: number;
}

/**
 * Receives the files of an archive one by one. Each must be a file that `teams` exports, have the size in the manifest,
 * and come only once. Parsed files are checked against their schemas.
 */
export class ArchiveReceiver {
  readonly #stage: Stage;
  /** Names and sizes in the manifest that have not been received yet. */
  readonly #due = new Map<string, number>();
  readonly #statuses = new Map<string, StatusRecord>();
  readonly #exits = new Map<string, ExitRecord>();
  readonly #plans = new Set<string>();
  readonly #conversations = new Set<string>();
  readonly #sessions = new Map<string, string>();
  readonly #freed: string[] = [];
  #manifest: ArchiveManifest | undefined;
  #config: TeamConfig | undefined;
  #tasks = 0;
  #requests = 0;
  #grants = 0;

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  /** @throws TeamError CORRUPT_FILE for a file that is not allowed */
  async take(file: PackedFile): Promise<void> {
    if (this.#manifest === undefined) return this.#takeManifest(file);
    const folder = `${this.#manifest.team}/`;
    const name = file.name.startsWith(folder) ? file.name.slice(folder.length) : "";
    const place = placeInArchive(name);
    if (place === undefined)
      throw archiveError(`contains ${JSON.stringify(file.name)}, which is not a file of a team`);
    if (this.#due.get(name) !== file.size)
      throw archiveError(`contains ${name}, which does not match the manifest`);
    this.#due.delete(name);
    requireSize(name, file, place);
    await this.#keep(name, place, file);
  }

  /** @throws TeamError CORRUPT_FILE if a file is missing, or does not belong to a member of the team */
  end(): Received {
    const [missing] = this.#due.keys();
    if (this.#manifest === undefined) throw archiveError("is empty");
    if (missing !== undefined) throw archiveError(`lacks ${missing}`);
    if (this.#config === undefined) throw archiveError(`lacks ${IN_ARCHIVE.config}`);
    const received = {
      manifest: this.#manifest,
      config: this.#config,
      statuses: this.#statuses,
      exits: this.#exits,
      plans: this.#plans,
      conversations: this.#conversations,
      sessionOf: (id: string) => this.#sessionOf(id),
      tasks: this.#tasks,
      freed: this.#freed,
      requests: this.#requests,
      grants: this.#grants,
    };
    checkMembers(received);
    return received;
  }

  async #takeManifest(file: PackedFile): Promise<void> {
    const team = file.name.slice(0, -IN_ARCHIVE.manifest.length - 1);
    const place = placeInArchive(IN_ARCHIVE.manifest);
    if (place === undefined || file.name !== `${team}/${IN_ARCHIVE.manifest}` || !isTeamDir(team))
      throw archiveError("does not begin with the manifest of a team");
    requireSize(IN_ARCHIVE.manifest, file, place);
    const manifest = parsed(IN_ARCHIVE.manifest, await allOf(file), archiveManifest);
    if (manifest.version > ARCHIVE_VERSION) throw tooNew(manifest.version);
    if (manifest.team !== team)
      throw archiveError(`has the folder ${team}, but its manifest names ${manifest.team}`);
    for (const { name, size } of manifest.files) this.#due.set(name, size);
    if (this.#due.size !== manifest.files.length)
      throw archiveError("has a manifest that names a file twice");
    if (this.#due.size > MAX_FILES)
      throw archiveError(`has a manifest that names more than ${MAX_FILES} files`);
    this.#manifest = manifest;
  }

  async #keep(name: string, { kind, stem }: ArchivedPlace, file: PackedFile): Promise<void> {
    switch (kind) {
      case "manifest":
        throw archiveError("contains a second manifest");
      case "config":
        this.#config = parsed(name, await allOf(file), teamConfig);
        return;
      case "status":
        this.#statuses.set(stem, parsed(name, await allOf(file), statusRecord));
        return;
      case "exit":
        this.#exits.set(stem, parsed(name, await allOf(file), exitRecord));
        return;
      case "task":
        return this.#keepTask(name, stem, file);
      case "highWaterMark":
        return this.#keepHighWaterMark(name, file);
      case "request":
        // The agent that asked has ended, so its request is closed (protocol.md section 1).
        if (name.endsWith(".json")) this.#requests += 1;
        return;
      case "plan":
        this.#plans.add(stem);
        return save(join(this.#stage.team, name), file.bytes);
      case "conversation":
        return this.#keepConversation(stem, file);
      case "broken":
        return save(
          name.startsWith("tasks/") ? this.#inTasks(name) : join(this.#stage.team, name),
          file.bytes,
        );
      case "inbox":
        await save(join(this.#stage.team, name), file.bytes);
        if (name.endsWith(".json")) this.#settleGrants(name);
        return;
      case "log":
        if (name === IN_ARCHIVE.journal)
          return save(join(this.#stage.team, name), importedJournal(file.bytes));
        // Unchanged: readers skip or quarantine invalid lines and entries.
        return save(join(this.#stage.team, name), file.bytes);
    }
  }

  /** Marks the messages of an inbox that give rights as read. An inbox without them stays as it is, broken or not. */
  #settleGrants(name: string): void {
    const path = join(this.#stage.team, name);
    const text = readText(path) ?? "";
    const { entries, count } = withoutGrants(parseEntries(text) ?? recoverEntries(text));
    if (count === 0) return;
    this.#grants += count;
    this.#write(path, formatJson(entries));
  }

  async #keepTask(name: string, id: string, file: PackedFile): Promise<void> {
    const task = parsed(name, await allOf(file), taskNumbered(id));
    const copy = importedTask(task);
    if (copy.owner !== task.owner) this.#freed.push(id);
    this.#tasks += 1;
    this.#write(this.#inTasks(name), formatJson(copy));
  }

  async #keepHighWaterMark(name: string, file: PackedFile): Promise<void> {
    const mark = watermarkOf((await allOf(file)).toString("utf8"));
    if (mark === undefined) throw archiveError(`contains ${name}, whose content is not a number`);
    this.#write(this.#inTasks(name), String(mark));
  }

  #keepConversation(id: string, file: PackedFile): Promise<void> {
    this.#conversations.add(id);
    const copy = this.#sessionOf(id);
    const path = join(this.#stage.team, IN_ARCHIVE.conversation(copy));
    return save(path, importedConversation(file.bytes, copy));
  }

  #sessionOf(id: string): string {
    const copy = this.#sessions.get(id) ?? randomUUID();
    this.#sessions.set(id, copy);
    return copy;
  }

  #inTasks(name: string): string {
    return join(this.#stage.tasks, name.slice("tasks/".length));
  }

  /** Without fsync, which takes a second for a thousand files: after a crash the archive can be imported again. */
  #write(path: string, text: string): void {
    ensureDir(dirname(path));
    replaceFile(path, text, { sync: false });
  }
}

function requireSize(name: string, { size }: PackedFile, { maxBytes }: ArchivedPlace): void {
  if (size > maxBytes) throw archiveError(`contains ${name} with ${size} bytes; the limit is ${maxBytes}`);
}

function checkMembers({ config, statuses, exits, plans, conversations }: Received): void {
  const names = config.members.map(({ name }) => name);
  for (const name of names) checkName(name);
  if (new Set(names.map(foldName)).size !== names.length)
    throw archiveError("contains two members with the same name");
  const files = new Set(names.map(agentFileName));
  const owner = [...statuses.keys(), ...exits.keys(), ...plans].find((agent) => !files.has(agent));
  if (owner !== undefined) throw archiveError(`contains files of ${owner}, who is not a member`);
  const sessions = new Set([
    config.leadSessionId,
    ...[...statuses.values()].map(({ sessionId }) => sessionId),
    ...config.members.map((member) => readMetadata(member, "session")),
  ]);
  const orphan = [...conversations].find((id) => !sessions.has(id));
  if (orphan !== undefined)
    throw archiveError(`contains the conversation ${orphan}, which belongs to no member`);
}

function checkName(name: string): void {
  try {
    agentName(name);
  } catch (error) {
    throw archiveError(`contains a member with an invalid name (${messageOf(error)})`);
  }
}

async function save(path: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
  ensureDir(dirname(path));
  await saveBytes(path, bytes);
}

/** Reads a whole file into memory; only after its size was checked. */
async function allOf({ bytes }: PackedFile): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of bytes) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function parsed<T>(name: string, bytes: Buffer, schema: z.core.$ZodType<T>): T {
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString("utf8"));
  } catch (error) {
    throw archiveError(`contains ${name}, which is not JSON (${messageOf(error)})`);
  }
  if (isNestedTooDeeply(value)) throw archiveError(`contains ${name}, which is nested too deeply`);
  const result = parseWithMessages(schema, value);
  if (result.success) return result.data;
  const { path, message } = firstIssue(result.error);
  const problem = path === "" ? message : `${path}: ${message}`;
  throw archiveError(`contains ${name}, which cannot be read (${problem})`);
}

/** @param what continues "The archive …" */
function archiveError(what: string): TeamError {
  return new TeamError("CORRUPT_FILE", `The archive ${what}. Nothing was created.`, {
    hint: "Export the team again: teams export <team>",
  });
}

function tooNew(version: number): TeamError {
  const message = `The archive has version ${version}; this program reads versions up to ${ARCHIVE_VERSION}. Nothing was created.`;
  return new TeamError("CORRUPT_FILE", message, {
    hint: "Install the newest version and import the archive again: npm install -g tmux-teams",
  });
}
