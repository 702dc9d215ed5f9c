import { messageOf, TeamError } from "../../errors.ts";
import type { Clock } from "../../os/clock.ts";
import { readText } from "../../os/files/fs.ts";
import { realPathOf } from "../../os/files/symlinks.ts";
import { readTeam } from "../config/config.ts";
import { eventMessageId, sendMessage } from "../mailbox/send.ts";
import { isDown } from "../members/members.ts";
import { writeRecord } from "../records/write-records.ts";
import type { TeamRef } from "../ref.ts";

/** An edit counts for this many milliseconds: later, the other member has certainly moved on. */
const WINDOW_MS = 30 * 60_000;
/** A repeated edit of a file is recorded again after this many milliseconds. */
const REPEAT_MS = 60_000;
/** Maximum number of files in a member's record; the newest are kept. */
const MAX_FILES = 200;

/** When a member edited which file last, in milliseconds since the epoch, by its real path. */
type Edits = Record<string, number>;

interface SharedEditsOptions {
  readonly ref: TeamRef;
  /** Name of the member whose edits this process records. */
  readonly member: string;
  readonly clock: Clock;
  /** Receives a failure, as a line for a person: an edit that has been made must not fail afterwards. */
  readonly onProblem: (line: string) => void;
}

/**
 * Records the files that a member edits, and notifies two members that edit the same file: both, and once for each file and pair.
 * Members in different worktrees edit different files.
 */
export class SharedEdits {
  readonly #options: SharedEditsOptions;
  readonly #edits = new Map<string, number>();
  readonly #warned = new Set<string>();

  constructor(options: SharedEditsOptions) {
    this.#options = options;
  }

  async add(path: string): Promise<void> {
    try {
      await this.#add(realPathOf(path));
    } catch (error) {
      // A lead may have deleted its team.
      if (error instanceof TeamError && error.code === "TEAM_NOT_FOUND") return;
      this.#options.onProblem(`The edit of ${path} could not be recorded for the team: ${messageOf(error)}`);
    }
  }

  async #add(path: string): Promise<void> {
    const { ref, member, clock } = this.#options;
    const now = clock.now();
    this.#record(path, now);
    for (const { name } of readTeam(ref).members) {
      const key = `${name}\n${path}`;
      if (name === member || this.#warned.has(key)) continue;
      const at = readEdits(ref, name)[path];
      if (at === undefined || now - at > WINDOW_MS || isDown(ref, name)) continue;
      await this.#notify(path, name);
      this.#warned.add(key);
    }
  }

  /** Records an edit before others are read, so that of two members at least one sees the other. */
  #record(path: string, now: number): void {
    const { ref, member } = this.#options;
    const last = this.#edits.get(path);
    if (last !== undefined && now - last < REPEAT_MS) return;
    this.#edits.delete(path);
    this.#edits.set(path, now);
    const newest = [...this.#edits].slice(-MAX_FILES);
    writeRecord(ref, ref.paths.agent(member).edits, Object.fromEntries(newest));
  }

  async #notify(path: string, other: string): Promise<void> {
    const { ref, member, clock } = this.#options;
    const pair = [member, other].toSorted();
    for (const [to, from] of [
      [member, other],
      [other, member],
    ] as const) {
      const text = `You and ${from} both edit ${path}, in the same directory. Agree with ${from} on who changes it, or reserve your task's files: TaskUpdate with touches.`;
      const messageId = eventMessageId("shared-edit", path, ...pair, to);
      const summary = `${from} edits the same file`;
      await sendMessage(ref, { from: "system", to, text, summary, messageId }, clock);
    }
  }
}

function readEdits(ref: TeamRef, member: string): Edits {
  try {
    const value: unknown = JSON.parse(readText(ref.paths.agent(member).edits) ?? "{}");
    if (typeof value !== "object" || value === null) return {};
    return Object.fromEntries(Object.entries(value).filter(([, at]) => typeof at === "number"));
  } catch {
    // A broken file counts as empty. Only its own member's process writes it, and replaces it at the next edit.
    return {};
  }
}
