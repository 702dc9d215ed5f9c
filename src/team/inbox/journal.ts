import { fileAccessError, isSystemError } from "../../errors.ts";
import { isMissing } from "../../os/files/fs.ts";
import { ownSecrets, redactValue } from "../../os/redact.ts";
import { journalForm, STATE_RANKS } from "../../schema/guards/inbox.ts";
import type { DeliveryState, JournalLine } from "../../schema/inbox.ts";
import { appendJsonLines, jsonLines, jsonLinesBackwards } from "../../store/jsonl.ts";
import { teamNotFound } from "../config/team-not-found.ts";
import type { TeamRef } from "../ref.ts";
import { rememberEvents, rememberedEvents } from "./event-ids.ts";

/** Bytes at the journal's end that are searched for a message; an older one is journalled again, which is harmless. */
const JOURNALLED_BYTES = 256 * 1024;
/** Bytes at the journal's end that are searched for the states of messages: about ten thousand messages of the team, read in about 10 ms. */
const STATE_BYTES = 4 * 1024 * 1024;

interface JournalOptions {
  /** Waits until the lines are on disk; default false. */
  readonly sync?: boolean;
  /** Values to redact; default: the secrets of this process. */
  readonly secrets?: readonly string[];
}

/**
 * Appends lines to the team's journal, which records every message and its delivery states. Lines of two writers never
 * mix.
 * @throws TeamError TEAM_NOT_FOUND if the team was deleted meanwhile; PERMISSION_DENIED with the system error
 */
export function appendJournal(
  ref: TeamRef,
  lines: readonly JournalLine[],
  { sync = false, secrets = ownSecrets() }: JournalOptions = {},
): void {
  try {
    const events = lines.filter(({ id, message }) => message !== undefined && isOfEvent(id));
    if (events.length > 0) rememberEvents(ref, events);
    appendJsonLines(ref.paths.journal, redactValue(lines, secrets), { sync });
  } catch (error) {
    if (isMissing(error)) throw teamNotFound(ref);
    throw isSystemError(error) ? fileAccessError(ref.paths.journal, "written", error) : error;
  }
}

/** True for an id that was derived from an event (version 8 of RFC 9562); any other id is new for each message. */
function isOfEvent(id: string): boolean {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/.test(id);
}

/** Returns which of these messages about events were ever delivered to an agent. */
export function deliveredEvents(ref: TeamRef, agent: string, ids: readonly string[]): ReadonlySet<string> {
  const events = ids.filter(isOfEvent);
  const remembered = events.length > 0 ? rememberedEvents(ref, agent, events) : new Set<string>();
  // A process that was killed between its message and the list left the message in the inbox, and its recipient journals it.
  const others = ids.filter((id) => !remembered.has(id));
  return new Set([...remembered, ...journalled(ref, agent, others)]);
}

/** Returns which of these messages to an agent are in the end of the journal. Reads backwards, only until all are found. */
export function journalled(ref: TeamRef, agent: string, ids: Iterable<string>): ReadonlySet<string> {
  const sought = new Set(ids);
  const found = new Set<string>();
  if (sought.size === 0) return found;
  for (const { id } of linesTo(ref, agent, sought, JOURNALLED_BYTES)) {
    if (sought.delete(id)) found.add(id);
    if (sought.size === 0) break;
  }
  return found;
}

/**
 * Returns the furthest journalled state of each of these messages. Reads backwards, only until all states are certain.
 * The result has no entry for a message that is not found within the bound.
 * @param maxBytes number of bytes to search, from the end of the journal
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
    // The line with the message itself is its first line.
    if (line.message !== undefined || isFinal(state)) sought.delete(line.id);
    if (sought.size === 0) break;
  }
  return states;
}

/**
 * Returns how often a turn with a message began, and whether such a turn has ended. Reads backwards to the first line of
 * the message.
 * @returns undefined if the message is not in the journal
 */
export function turnsOf(
  ref: TeamRef,
  agent: string,
  id: string,
): { readonly started: number; readonly isOver: boolean } | undefined {
  let started: number | undefined;
  for (const line of linesTo(ref, agent, new Set([id]))) {
    started = (started ?? 0) + (line.state === "turn_started" ? 1 : 0);
    if (isFinal(line.state)) return { started, isOver: true };
    if (line.message !== undefined) break;
  }
  return started === undefined ? undefined : { started, isOver: false };
}

/** True if no other state follows this one. */
function isFinal(state: DeliveryState): boolean {
  return state === "done" || state === "bounced";
}

/** Yields the lines about these messages to an agent, newest first. For a single id, lines without it are not parsed. */
function* linesTo(
  ref: TeamRef,
  agent: string,
  ids: ReadonlySet<string>,
  maxBytes = Number.POSITIVE_INFINITY,
): Generator<JournalLine, undefined> {
  const [id] = ids;
  const contains = ids.size === 1 ? `"id":${JSON.stringify(id)}` : `"to":${JSON.stringify(agent)}`;
  const lines = jsonLinesBackwards(ref.paths.journal, journalForm, { contains, maxBytes });
  for (const line of reading(ref, lines)) {
    if (line.to === agent && ids.has(line.id)) yield line;
  }
}

/** Yields lines of the journal. A system error names the journal, since the caller may work on another file, such as an inbox. */
function* reading(
  { paths }: TeamRef,
  lines: Generator<JournalLine, undefined>,
): Generator<JournalLine, undefined> {
  try {
    yield* lines;
  } catch (error) {
    throw isSystemError(error) ? fileAccessError(paths.journal, "read", error) : error;
  }
}

/** The journal's record of one message. */
interface JournalledMessage {
  readonly id: string;
  readonly to: string;
  readonly state: DeliveryState;
  /** Undefined if its first line was lost. */
  readonly message: JournalLine["message"];
}

/**
 * Returns the messages to one agent in the order in which they were first journalled, each with its furthest state.
 */
export function readJournal(ref: TeamRef, agent: string): Map<string, JournalledMessage> {
  const known = new Map<string, JournalledMessage>();
  for (const { id, to, state, message } of reading(ref, jsonLines(ref.paths.journal, journalForm))) {
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

/** Returns the later of two delivery states. */
export function furthest(a: DeliveryState, b: DeliveryState): DeliveryState {
  return STATE_RANKS[a] >= STATE_RANKS[b] ? a : b;
}
