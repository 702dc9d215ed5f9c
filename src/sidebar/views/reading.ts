import type { Reader } from "../documents.ts";
import type { Action } from "../keys.ts";
import { answering, type Handler, leaving, type Scene } from "../press.ts";
import { isSamePlace } from "../prompts.ts";
import { backToList, commentsOn, type SidebarState, type Step } from "../state.ts";
import { sentTexts } from "./messages-view.ts";
import { atEnd, atRow, matchesIn, movedBy, type ReaderRow, windowOf } from "./reader.ts";
import { readerRoom, rowsFor } from "./reader-frame.ts";

/** The action of each key in a document. */
export const IN_READERS: Readonly<Partial<Record<Action, Handler>>> = {
  down: scrolling(() => 1),
  up: scrolling(() => -1),
  "page-down": scrolling((room) => Math.max(1, room - 1)),
  "page-up": scrolling((room) => -Math.max(1, room - 1)),
  first: reading(({ reader, rows, room }) => atRow(reader, 0, rows.length, room)),
  last: reading(({ reader, rows, room }) => atEnd(reader, rows.length, room)),
  "next-file": toFile(1),
  "previous-file": toFile(-1),
  search: ({ state }) => ({
    state: { ...state, prompt: { kind: "search", text: state.reader?.search ?? "" } },
  }),
  "next-match": toMatch(1),
  "previous-match": toMatch(-1),
  yes: answering("yes"),
  no: answering("no"),
  always: answering("always"),
  comment,
  "send-comments": sendComments,
  write: ({ state }) => ({ state: writing(state) }),
  go: toTeam,
  back: ({ state }) => ({ state: backToList(state) }),
  close: ({ state }) => leaving(state),
};

interface Reading {
  readonly reader: Reader;
  readonly rows: readonly ReaderRow[];
  readonly room: number;
}

function readingOf({ state, data, size }: Scene): Reading | undefined {
  const { reader } = state;
  if (reader === undefined) return undefined;
  return { reader, rows: rowsFor(reader, state, data, size), room: readerRoom(state, data, size) };
}

function reading(next: (reading: Reading) => Reader): Handler {
  return (scene) => {
    const now = readingOf(scene);
    return { state: now === undefined ? scene.state : { ...scene.state, reader: next(now) } };
  };
}

function scrolling(by: (room: number) => number): Handler {
  return reading(({ reader, rows, room }) => movedBy(reader, by(room), rows.length, room));
}

function toFile(by: 1 | -1): Handler {
  return reading(({ reader, rows, room }) => {
    const { cursor } = windowOf(reader, rows.length, room);
    const files = rows.flatMap(({ isFile }, index) => (isFile ? [index] : []));
    const next = by > 0 ? files.find((index) => index > cursor) : files.findLast((index) => index < cursor);
    // The file's lines are shown below its name.
    return next === undefined ? reader : { ...atRow(reader, next, rows.length, room), top: next };
  });
}

function toMatch(by: 1 | -1): Handler {
  return (scene) => {
    const now = readingOf(scene);
    const { state } = scene;
    if (now === undefined || now.reader.search === undefined) return { state };
    const { reader, rows, room } = now;
    const { top, cursor } = windowOf(reader, rows.length, room);
    // In a text that only scrolls, the matches on the screen were already seen.
    const from = reader.source.kind === "diff" ? cursor : by > 0 ? top + room - 1 : top;
    const found = matchesIn(rows, now.reader.search);
    const next =
      by > 0
        ? (found.find((index) => index > from) ?? found[0])
        : (found.findLast((index) => index < from) ?? found.at(-1));
    if (next === undefined) return { state: { ...state, notice: `nothing found: ${now.reader.search}` } };
    return { state: { ...state, reader: atRow(reader, next, rows.length, room) } };
  };
}

/** Goes to the first match of a search that has just been written, from the top of the screen on. */
export function afterSearch(scene: Scene): Step {
  const now = readingOf(scene);
  const { state } = scene;
  if (now?.reader.search === undefined) return { state };
  const { reader, rows, room } = now;
  const { top, cursor } = windowOf(reader, rows.length, room);
  const found = matchesIn(rows, now.reader.search);
  const from = reader.source.kind === "diff" ? cursor : top;
  // If the end is followed, go to the newest match.
  const next = reader.top === "end" ? found.at(-1) : (found.find((index) => index >= from) ?? found[0]);
  if (next === undefined) return { state: { ...state, notice: `nothing found: ${now.reader.search}` } };
  const isShown = next >= top && next < top + room && reader.source.kind !== "diff";
  return { state: isShown ? state : { ...state, reader: atRow(reader, next, rows.length, room) } };
}

function selectedRow(scene: Scene): ReaderRow | undefined {
  const now = readingOf(scene);
  return now === undefined ? undefined : now.rows[windowOf(now.reader, now.rows.length, now.room).cursor];
}

/** Shows the selected team. */
function toTeam(scene: Scene): Step {
  const { state } = scene;
  const { content } = state.reader ?? {};
  const name = selectedRow(scene)?.team;
  const selected = content?.kind === "teams" ? content.teams.find(({ team }) => team === name) : undefined;
  if (selected === undefined) return { state };
  if (selected.problem !== undefined)
    return { state: { ...state, notice: "the files of this team cannot be read; run teams doctor" } };
  return selected.isShown ? { state: backToList(state) } : leaving(backToList(state), selected.team);
}

function comment(scene: Scene): Step {
  const { state } = scene;
  const place = selectedRow(scene)?.place;
  const source = state.reader?.source;
  if (place === undefined || source?.kind !== "diff")
    return { state: { ...state, notice: "no line to comment on: select one with j and k" } };
  const { member } = source;
  const text = commentsOn(state, member).find((one) => isSamePlace(one, place))?.text ?? "";
  return { state: { ...state, prompt: { kind: "comment", member, place, text } } };
}

function sendComments({ state }: Scene): Step {
  const source = state.reader?.source;
  if (source?.kind !== "diff") return { state };
  const { member } = source;
  const comments = commentsOn(state, member);
  if (comments.length === 0)
    return { state: { ...state, notice: "no comment yet: c writes one on this line" } };
  return { state, effect: { kind: "comments", member, comments } };
}

/** Begins a message to the member whose messages are shown. */
export function writing(state: SidebarState): SidebarState {
  const { source, content } = state.reader ?? {};
  if (source?.kind !== "messages") return state;
  const sent = content?.kind === "messages" ? sentTexts(content.messages, content.own, source.member) : [];
  return { ...state, prompt: { kind: "message", to: source.member, text: "", sent, at: 0 } };
}
