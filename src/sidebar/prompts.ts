import { textStart } from "../text/characters/cut-text.ts";
import { type TextBuffer, textBuffer } from "../text/characters/text-buffer.ts";
import { stripControls } from "../text/terminal-text.ts";
import type { DiffPlace, LineComment } from "./documents.ts";
import { backToList, commentsOn, type Prompt, type SidebarState, type Step } from "./state.ts";

type PromptOf<K extends Prompt["kind"]> = Extract<Prompt, { readonly kind: K }>;
type Target = Parameters<TextBuffer["move"]>[0];
type Enter<K extends Prompt["kind"]> = (prompt: PromptOf<K>, rest: SidebarState) => Step;

/** Maximum characters of a line; for a longer text, use an editor and a command that takes `-`. */
const MAX_TEXT = 2_000;

const PASTE_NOTICE = "pasted text is not a key: nothing was done";
const FULL_NOTICE = `a line has at most ${MAX_TEXT.toLocaleString("en-US")} characters; the rest was left out`;

/** What Enter does; `y` for a prompt that is answered by one key. */
const ENTER: { readonly [K in Prompt["kind"]]: Enter<K> } = {
  answer: ({ id, from, verdict, text }, rest) => ({
    state: rest.view === "request" ? backToList(rest) : rest,
    effect: { kind: "answer", answer: { id, from, verdict, note: text.trim() } },
  }),
  message: (prompt, rest) => {
    const text = prompt.text.trim();
    if (text === "") return { state: rest };
    const { afterCursor: _, draft: _draft, ...line } = prompt;
    const next: Prompt = { ...line, text: "", sent: [text, ...prompt.sent], at: 0 };
    return { state: { ...rest, prompt: next }, effect: { kind: "message", to: prompt.to, text } };
  },
  comment: ({ member, place, text }, rest) => ({
    state: withComment(rest, member, { ...place, text: text.trim() }),
  }),
  filter: ({ text }, rest) => ({ state: withFilter(rest, text.trim()) }),
  search: ({ text }, { reader, ...rest }) => {
    if (reader === undefined) return { state: rest };
    const { search: _, ...plain } = reader;
    const search = text.trim();
    return { state: { ...rest, reader: search === "" ? plain : { ...plain, search } } };
  },
  "spawn-name": ({ text, task = "" }, rest) => {
    const name = text.trim();
    return { state: name === "" ? rest : { ...rest, prompt: { kind: "spawn-prompt", name, text: task } } };
  },
  "spawn-prompt": ({ name, text }, rest) => ({
    state: rest,
    effect: { kind: "spawn", name, prompt: text.trim() },
  }),
  kill: ({ member }, rest) => ({ state: rest, effect: { kind: "member", action: "kill", member } }),
  discard: ({ team }, rest) => ({
    state: rest,
    effect: team === undefined ? { kind: "close" } : { kind: "team", team },
  }),
};

export function isOneKey({ kind }: Prompt): boolean {
  return kind === "kill" || kind === "discard";
}

/** Whether the text may have several lines. */
function hasLines({ kind }: Prompt): boolean {
  return kind === "answer" || kind === "message" || kind === "comment" || kind === "spawn-prompt";
}

/**
 * Handles a key while the user writes a line: Enter takes it, Esc and Ctrl-C cancel it, any character is added to it.
 * @param key as blessed names it
 * @param char its character; undefined for other keys
 */
export function write(state: SidebarState, key: string, char: string | undefined): Step {
  const { prompt, ...rest } = state;
  if (prompt === undefined) return { state };
  if (isOneKey(prompt)) return key === "y" ? enter(prompt, rest) : { state: rest };
  switch (key) {
    case "enter":
      return enter(prompt, rest);
    case "escape":
    case "C-c":
      return { state: prompt.kind === "filter" ? withFilter(rest, "") : rest };
    case "linefeed":
      return hasLines(prompt) ? edited(rest, prompt, (buffer) => buffer.insert("\n")) : { state };
    case "up":
    case "down":
      return { state: { ...rest, prompt: recalled(prompt, key === "up" ? 1 : -1) } };
    default: {
      const [move, erase] = [MOVES[key], ERASES[key]];
      if (move !== undefined) return edited(rest, prompt, (buffer) => buffer.move(move));
      if (erase !== undefined) return edited(rest, prompt, (buffer) => buffer.erase(erase));
      if (char === undefined || /\p{Cc}/u.test(char)) return { state };
      return inserted(rest, prompt, char);
    }
  }
}

/** Inserts pasted text into the line that the user writes; it sends nothing, and its characters are never keys. */
export function pasted(state: SidebarState, text: string): Step {
  const { prompt, notice: _, ...rest } = state;
  if (prompt === undefined || isOneKey(prompt)) return { state: { ...state, notice: PASTE_NOTICE } };
  const lines = stripControls(text.replace(/\r\n?/g, "\n")).trimEnd();
  const piece = hasLines(prompt) ? lines : lines.replace(/\s+/g, " ");
  return inserted(rest, prompt, piece);
}

/** Inserts as much as fits into the line; a notice says if the rest was left out. */
function inserted(rest: SidebarState, prompt: Prompt, piece: string): Step {
  const kept = textStart(piece, MAX_TEXT - prompt.text.length);
  const step = edited(rest, prompt, (buffer) => buffer.insert(kept));
  return kept === piece ? step : { state: { ...step.state, notice: FULL_NOTICE } };
}

function enter<K extends Prompt["kind"]>(prompt: PromptOf<K>, rest: SidebarState): Step {
  const handle = ENTER[prompt.kind as K] as Enter<K>;
  return handle(prompt, rest);
}

/** The keys that move in the line, and those that erase up to there, as blessed names them. */
const MOVES: Readonly<Record<string, Target>> = {
  left: "left",
  right: "right",
  home: "home",
  "C-a": "home",
  end: "end",
  "C-e": "end",
  "C-left": "word-left",
  "M-left": "word-left",
  "M-b": "word-left",
  "C-right": "word-right",
  "M-right": "word-right",
  "M-f": "word-right",
};
const ERASES: Readonly<Record<string, Target>> = {
  backspace: "left",
  delete: "right",
  "C-d": "right",
  "C-u": "home",
  "C-k": "end",
  "C-w": "word-left",
  "M-backspace": "word-left",
  "M-d": "word-right",
};

function edited(rest: SidebarState, prompt: Prompt, edit: (buffer: TextBuffer) => void): Step {
  const buffer = textBuffer();
  buffer.set(prompt.text, prompt.text.length - (prompt.afterCursor ?? 0));
  edit(buffer);
  const { text, cursor } = buffer;
  const { afterCursor: _, ...kind } = prompt;
  const afterCursor = text.length - cursor;
  const next = { ...kind, text, ...(afterCursor > 0 && { afterCursor }) } as Prompt;
  // The list is filtered at once.
  return { state: { ...(prompt.kind === "filter" ? withFilter(rest, text) : rest), prompt: next } };
}

function recalled(prompt: Prompt, by: 1 | -1): Prompt {
  if (prompt.kind !== "message") return prompt;
  const at = Math.min(Math.max(prompt.at + by, 0), prompt.sent.length);
  if (at === prompt.at) return prompt;
  const { afterCursor: _, draft = "", ...line } = prompt;
  const typed = prompt.at === 0 ? prompt.text : draft;
  if (at === 0) return { ...line, at, text: typed };
  return { ...line, at, text: prompt.sent[at - 1] ?? "", ...(typed !== "" && { draft: typed }) };
}

function withFilter({ filter: _, ...state }: SidebarState, text: string): SidebarState {
  return text === "" ? state : { ...state, filter: text };
}

/** Adds a comment, or replaces the one on the same line; an empty text removes it. */
function withComment(state: SidebarState, member: string, comment: LineComment): SidebarState {
  const others = commentsOn(state, member).filter((one) => !isSamePlace(one, comment));
  const own = comment.text === "" ? others : [...others, comment];
  return { ...state, comments: { ...state.comments, [member]: own } };
}

/** Forgets sent comments, except those that were changed meanwhile. */
export function withoutComments(
  state: SidebarState,
  member: string,
  sent: readonly LineComment[],
): SidebarState {
  const left = commentsOn(state, member).filter((comment) => !sent.includes(comment));
  return { ...state, comments: { ...state.comments, [member]: left } };
}

export function isSamePlace(a: DiffPlace, b: DiffPlace): boolean {
  return a.path === b.path && a.line === b.line && a.side === b.side;
}
