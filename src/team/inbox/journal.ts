import { isSystemError, systemRefusal } from "../../errors.ts";
import { isMissing } from "../../os/files/fs.ts";
import { ownSecrets, redactValue } from "../../os/redact.ts";
import { DELIVERY_STATES, type DeliveryState, type JournalLine, journalLine } from "../../schema/inbox.ts";
import { appendJsonLines, jsonLinesBackwards, readJsonLines } from "../../store/jsonl.ts";
import { teamNotFound } from "../config/team-not-found.ts";
import type { TeamRef } from "../ref.ts";

/** How far back a message is looked for that should be in the journal already; what is older is written once more, which harms nothing. */
const JOURNALLED_BYTES = 256 * 1024;
/** How far back the state of a message is looked for: some ten thousand messages of the whole team, read in hundredths of a second. */
const STATE_BYTES = 4 * 1024 * 1024;

interface JournalOptions {
  /** Whether the lines are on the disk before this returns. */
  readonly sync?: boolean;
  /** Values that no file of ours may hold; by default those that this process was started with. */
  readonly secrets?: readonly string[];
}

/**
 * Appends to the team's journal: every message and what became of it. Two writers' lines never mix.
 * @throws TeamError TEAM_NOT_FOUND when the team was deleted meanwhile, PERMISSION_DENIED with what the system said
 */
export function appendJournal(
  ref: TeamRef,
  lines: readonly JournalLine[],
  { sync = false, secrets = ownSecrets() }: JournalOptions = {},
): void {
  try {
    appendJsonLines(ref.paths.journal, redactValue(lines, secrets), { sync });
  } catch (error) {
    if (isMissing(error)) throw teamNotFound(ref);
    throw isSystemError(error) ? systemRefusal(ref.paths.journal, "written", error) : error;
  }
}

/** Which of these messages to an agent the end of the journal names; reads back only until it has met them all. */
export function journalled(ref: TeamRef, agent: string, ids: Iterable<string>): ReadonlySet<string> {
  const sought = new Set(ids);
  const met = new Set<string>();
  if (sought.size === 0) return met;
  for (const { id } of linesTo(ref, agent, sought, JOURNALLED_BYTES)) {
    if (sought.delete(id)) met.add(id);
    if (sought.size === 0) break;
  }
  return met;
}

/**
 * The furthest state that the journal tells of each of these messages; reads back only until that is sure. One that it
 * does not name within the bound is missing.
 * @param maxBytes from the journal's end
 */
export function statesOf(
  ref: TeamRef,
  agent: string,
  ids: Iterable<string>,
  maxBytes = STATE_BYTES,
): Map<string, DeliveryState> {
  const sought = new Set(ids);
  const states = new Map<string, DeliveryState>();
  if (sought.size === 0) return states;
  for (const line of linesTo(ref, agent, sought, maxBytes)) {
    const state = furthest(states.get(line.id) ?? line.state, line.state);
    states.set(line.id, state);
    // The line that holds the message is its first.
    if (line.message !== undefined || isFinal(state)) sought.delete(line.id);
    if (sought.size === 0) break;
  }
  return states;
}

/**
 * What became of a message: how often a turn was begun with it, and whether one has ended. Reads back to the message's
 * first line.
 * @returns undefined for one that the journal does not know
 */
export function turnsOf(
  ref: TeamRef,
  agent: string,
  id: string,
): { readonly begun: number; readonly isOver: boolean } | undefined {
  let begun: number | undefined;
  for (const line of linesTo(ref, agent, new Set([id]))) {
    begun = (begun ?? 0) + (line.state === "turn_started" ? 1 : 0);
    if (isFinal(line.state)) return { begun, isOver: true };
    if (line.message !== undefined) break;
  }
  return begun === undefined ? undefined : { begun, isOver: false };
}

/** Whether nothing comes behind this state. */
function isFinal(state: DeliveryState): boolean {
  return state === "done" || state === "bounced";
}

/** The lines about some messages to an agent, from the newest to the oldest. Of one alone, no other's line is parsed. */
function* linesTo(
  ref: TeamRef,
  agent: string,
  ids: ReadonlySet<string>,
  maxBytes = Number.POSITIVE_INFINITY,
): Generator<JournalLine, undefined> {
  const [id] = ids;
  const holding = ids.size === 1 ? `"id":${JSON.stringify(id)}` : `"to":${JSON.stringify(agent)}`;
  for (const line of jsonLinesBackwards(ref.paths.journal, journalLine, { holding, maxBytes })) {
    if (line.to === agent && ids.has(line.id)) yield line;
  }
}

/** What the journal knows of one message. */
interface JournalledMessage {
  readonly id: string;
  readonly to: string;
  readonly state: DeliveryState;
  /** Missing where its first line was lost. */
  readonly message: JournalLine["message"];
}

/**
 * The messages to one agent in the order in which they were first written down, each with the furthest state that it
 * reached.
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
