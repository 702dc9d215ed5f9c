import { randomUUID } from "node:crypto";
import { dirname, join } from "node:path";
import { formatJson, replaceFile } from "../../os/files/atomic-write.ts";
import {
  ensureDir,
  entryOf,
  listDir,
  readText,
  removeIfEmpty,
  removeTree,
  rename,
} from "../../os/files/fs.ts";
import { readArchive } from "../../os/files/tar.ts";
import { agentFileName, planPath, transcriptPath } from "../../protocol/paths.ts";
import type { StatusRecord } from "../../schema/status.ts";
import { ownerRecord } from "../../store/owner-lock.ts";
import { moveOntoFree, placeTeam } from "../config/create-files.ts";
import { endingId } from "../members/ending-claims.ts";
import type { Home, TeamRef } from "../ref.ts";
import type { DroppedRights } from "./imported-rights.ts";
import { IN_ARCHIVE } from "./layout.ts";
import { importedConfig, importedExit, importedStatus } from "./rewrite-imported.ts";
import { ArchiveReceiver, type Received, type Stage } from "./unpack.ts";

/** Maximum number of decompressed bytes: two histories of maximum length. */
const MAX_BYTES = 8 * 1024 ** 3;

interface ImportOptions {
  /** A new name for the team. */
  readonly name?: string | undefined;
  /** The working directory of members that worked outside it. */
  readonly cwd: string;
  /** Takes the next free name of name, name-2, … if the name is taken. */
  readonly unique?: boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Aborts the import; nothing is created in that case. */
  readonly signal?: AbortSignal;
}

export interface ImportedTeam {
  readonly ref: TeamRef;
  readonly received: Received;
  readonly dropped: readonly DroppedRights[];
}

/**
 * Creates a team from an archive. Everything is read and checked in hidden directories; then the team appears in one step.
 * Its members have exited. Their conversations have new session ids, so the original and all copies continue separately.
 * @param source the bytes of the `.tar.gz`
 * @throws TeamError CORRUPT_FILE, TEAM_EXISTS, INVALID_NAME, and the reason of `signal`; nothing is created in that case
 */
export async function importTeam(
  home: Home,
  source: AsyncIterable<Uint8Array>,
  { name, cwd, unique = false, now, signal }: ImportOptions,
): Promise<ImportedTeam> {
  // This name shows `teams doctor` an unfinished import, and the process that ran it.
  const unfinished = `.import.new-${ownerRecord()}`;
  const stage = { team: join(home.root, "teams", unfinished), tasks: join(home.root, "tasks", unfinished) };
  try {
    for (const directory of [join(stage.team, "inboxes"), stage.tasks]) ensureDir(directory);
    const receiver = new ArchiveReceiver(stage);
    await readArchive(source, MAX_BYTES, (file) => receiver.take(file), signal);
    const received = receiver.end();
    const copy = new Copy(home, stage, received, { now, here: cwd });
    const ref = placeTeam(home, { name: name ?? received.manifest.team, unique }, (at) =>
      copy.place(at, name),
    );
    return { ref, received, dropped: copy.dropped };
  } finally {
    for (const directory of [stage.team, stage.tasks]) removeTree(directory);
  }
}

/** Moves the files of a stage to their final places, and back if the name turns out to be taken. */
class Copy {
  readonly #home: Home;
  readonly #stage: Stage;
  readonly #received: Received;
  readonly #now: number;
  readonly #here: string;
  /** The rights of the original's members that the copy does not have. */
  dropped: readonly DroppedRights[] = [];
  /** Keyed by the agent's file name. */
  readonly #statuses = new Map<string, StatusRecord>();
  readonly #moved: (readonly [from: string, to: string])[] = [];

  constructor(
    home: Home,
    stage: Stage,
    received: Received,
    { now, here }: { readonly now: number; readonly here: string },
  ) {
    this.#home = home;
    this.#stage = stage;
    this.#received = received;
    this.#now = now;
    this.#here = here;
    this.#writeRecords();
  }

  /** @returns false if the name is taken; everything is back in the stage in that case */
  place(ref: TeamRef, displayName: string | undefined): boolean {
    try {
      this.#writeConfig(ref, displayName);
      this.#moveConversations();
      this.#movePlans(ref);
      for (const directory of ["sessions", "plans"]) removeIfEmpty(join(this.#stage.team, directory));
      const placed = this.#moveTasks(ref) && moveOntoFree(this.#stage.team, ref.paths.dir);
      if (!placed) this.#moveBack();
      return placed;
    } catch (error) {
      this.#moveBack();
      throw error;
    }
  }

  #writeRecords(): void {
    for (const [agent, status] of this.#received.statuses) {
      const sessionId = this.#received.sessionOf(status.sessionId);
      const copy = {
        instance: randomUUID(),
        sessionId,
        transcript: transcriptPath(this.#home.root, sessionId),
        now: this.#now,
      };
      const exit = importedExit(this.#received.exits.get(agent), status, copy);
      const ended = importedStatus(status, copy);
      this.#statuses.set(agent, ended);
      this.#write(IN_ARCHIVE.status(agent), ended);
      this.#write(IN_ARCHIVE.exit(agent), exit);
    }
  }

  #writeConfig(ref: TeamRef, asked: string | undefined): void {
    const { config } = this.#received;
    const kept = asked ?? (ref.team === this.#received.manifest.team ? config.displayName : undefined);
    const displayName = kept === ref.team ? undefined : kept;
    const leadSessionId = this.#received.sessionOf(config.leadSessionId);
    const endOfMember = (name: string): string | undefined => {
      const status = this.#statuses.get(agentFileName(name));
      return status && endingId(status);
    };
    const copy = {
      team: ref.team,
      displayName,
      here: this.#here,
      leadSessionId,
      endOf: endOfMember,
      sessionOf: (id: string) => this.#received.sessionOf(id),
    };
    const imported = importedConfig(config, copy);
    this.dropped = imported.dropped;
    this.#write(IN_ARCHIVE.config, imported.config);
  }

  #moveConversations(): void {
    for (const id of this.#received.conversations) {
      const copy = this.#received.sessionOf(id);
      const from = join(this.#stage.team, IN_ARCHIVE.conversation(copy));
      this.#move(from, transcriptPath(this.#home.root, copy));
    }
  }

  /** An existing plan file belongs to a deleted team or to the user: it is renamed, not overwritten. */
  #movePlans(ref: TeamRef): void {
    for (const { name } of this.#received.config.members) {
      if (!this.#received.plans.has(agentFileName(name))) continue;
      const from = join(this.#stage.team, IN_ARCHIVE.plan(agentFileName(name)));
      const to = planPath(this.#home.root, ref.team, name);
      if (entryOf(to) !== undefined && readText(to) !== readText(from))
        this.#move(to, `${to}.before-${this.#now}`);
      this.#move(from, to);
    }
  }

  /** Before the team's directory: while the tasks exist, no other process creates a team of this name. */
  #moveTasks(ref: TeamRef): boolean {
    if (listDir(this.#stage.tasks).length === 0) return true;
    const isFree = moveOntoFree(this.#stage.tasks, ref.paths.tasks);
    if (isFree) this.#moved.unshift([this.#stage.tasks, ref.paths.tasks]);
    return isFree;
  }

  #write(name: string, value: unknown): void {
    const path = join(this.#stage.team, name);
    ensureDir(dirname(path));
    replaceFile(path, formatJson(value));
  }

  #move(from: string, to: string): void {
    ensureDir(dirname(to));
    rename(from, to);
    this.#moved.unshift([from, to]);
  }

  #moveBack(): void {
    for (const [from, to] of this.#moved.splice(0)) {
      ensureDir(dirname(from));
      rename(to, from);
    }
  }
}
