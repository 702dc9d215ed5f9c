import { processEnv } from "../os/env.ts";
import { fileSize, isMissing, readFrom } from "../os/fs.ts";
import { maskValue, secretsOf } from "../os/secrets.ts";
import { DELIVERY_STATES, type DeliveryState, type JournalLine, journalLine } from "../schema/inbox.ts";
import { appendJsonLines, readJsonLines } from "../store/jsonl.ts";
import type { TeamRef } from "./ref.ts";
import { teamNotFound } from "./team-lock.ts";

/** How far back a message is looked for that should be in the journal already; what is older is written once more, which harms nothing. */
const TAIL_BYTES = 256 * 1024;

export interface JournalOptions {
  /** Whether the lines are on the disk before this returns. */
  readonly sync?: boolean;
  /** Values that no file of ours but the message itself may hold; by default those of this process's environment. */
  readonly secrets?: readonly string[];
}

/**
 * Appends to the team's journal: every message and what became of it. Two writers' lines never mix.
 * @throws TeamError TEAM_NOT_FOUND when the team was deleted meanwhile
 */
export function appendJournal(
  ref: TeamRef,
  lines: readonly JournalLine[],
  { sync = false, secrets = secretsOf(processEnv()) }: JournalOptions = {},
): void {
  try {
    appendJsonLines(ref.paths.journal, maskValue(lines, secrets), { sync });
  } catch (error) {
    throw isMissing(error) ? teamNotFound(ref) : error;
  }
}

/** Tells whether the end of the journal names a message; costs the same however long the journal is. */
export function recentJournal(ref: TeamRef): (id: string) => boolean {
  const size = fileSize(ref.paths.journal) ?? 0;
  const tail = readFrom(ref.paths.journal, Math.max(0, size - TAIL_BYTES))?.toString("utf8") ?? "";
  return (id) => tail.includes(`"id":${JSON.stringify(id)}`);
}

/** What the journal knows of one message. */
export interface JournalledMessage {
  readonly id: string;
  readonly to: string;
  readonly state: DeliveryState;
  /** Missing where its first line was lost. */
  readonly message: JournalLine["message"];
}

/**
 * The messages to one agent in the order in which they were first written down, each with the furthest state that it
 * reached (a quick receiver's line may stand before the sender's).
 */
export function readJournal(ref: TeamRef, agent: string): Map<string, JournalledMessage> {
  const known = new Map<string, JournalledMessage>();
  for (const { id, to, state, message } of readJsonLines(ref.paths.journal, journalLine).lines) {
    if (to !== agent) continue;
    const before = known.get(id);
    known.set(id, {
      id,
      to,
      state: before === undefined ? state : furthest(before.state, state),
      message: before?.message ?? message,
    });
  }
  return known;
}

/** The later of two states of a message's life. */
export function furthest(a: DeliveryState, b: DeliveryState): DeliveryState {
  return DELIVERY_STATES.indexOf(a) >= DELIVERY_STATES.indexOf(b) ? a : b;
}
