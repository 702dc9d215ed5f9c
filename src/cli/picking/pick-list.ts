import type { Pressed } from "../../terminal/input/key-decoder.ts";
import { visible } from "../../terminal/output.ts";
import { cutToWidth, displayWidth } from "../../text/cell-width.ts";
import type { Styler } from "../../text/style.ts";
import { TONE } from "../../text/style.ts";

/** One choice of a list. */
export interface Choice {
  readonly word: string;
  /** The description of the choice, after its word. */
  readonly about: string;
}

/** The indexes of the selected choice and of the first visible one. */
export interface ListState {
  readonly at: number;
  readonly top: number;
}

/** The result of a key: a new state, a choice, or the end without one. */
export type Step = { readonly state: ListState } | { readonly picked: number } | { readonly cancelled: true };

const KEYS = "j k move · Enter selects · Esc cancels";

/** Returns the effect of a key. Digits select the first nine choices. */
export function step(state: ListState, key: Pressed, count: number): Step {
  const moved = (by: number): Step => ({
    state: { ...state, at: Math.min(count - 1, Math.max(0, state.at + by)) },
  });
  if (key.kind === "enter") return { picked: state.at };
  if (key.kind === "escape" || key.kind === "end-of-input" || key.kind === "signal")
    return { cancelled: true };
  if (key.kind === "edit")
    return moved({ up: -1, down: 1, home: -count, end: count }[key.key as string] ?? 0);
  if (key.kind === "view") return moved({ "page-up": -5, "page-down": 5 }[key.key as string] ?? 0);
  if (key.kind !== "text" || key.pasted) return { state };
  return pressed(key.text, count, moved);
}

/** Handles the keys of one read: there may be several. */
function pressed(text: string, count: number, moved: (by: number) => Step): Step {
  const [char = "", ...rest] = text;
  const digit = /^[1-9]$/.test(char) ? Number(char) : undefined;
  if (digit !== undefined && digit <= count) return { picked: digit - 1 };
  if (char === "q") return { cancelled: true };
  const next = moved({ j: 1, k: -1, g: -count, G: count }[char] ?? 0);
  if (rest.length === 0 || !("state" in next)) return next;
  return step(next.state, { kind: "text", text: rest.join(""), pasted: false }, count);
}

interface ListSize {
  readonly width: number;
  readonly height: number;
}

/** Returns the state, scrolled so that the selected choice is visible. */
export function scrolled(state: ListState, count: number, { height }: ListSize): ListState {
  const room = roomFor(count, height);
  const top = Math.min(Math.max(state.top, state.at - room + 1), state.at, Math.max(0, count - room));
  return { ...state, top };
}

/** The title, the keys and the last row of the terminal are not for choices. */
function roomFor(count: number, height: number): number {
  return Math.max(1, Math.min(count, height - 3));
}

/** Returns the rows of a list, each shorter than the terminal. */
export function listRows(
  title: string,
  choices: readonly Choice[],
  { at, top }: ListState,
  size: ListSize,
  styleText: Styler,
): readonly string[] {
  const room = roomFor(choices.length, size.height);
  const width = Math.max(1, size.width - 1);
  const longest = Math.max(...choices.map(({ word }) => displayWidth(visible(word))));
  const shown = choices.slice(top, top + room).map(({ word, about }, i) => {
    const number = top + i;
    const isSelected = number === at;
    const digit = number < 9 ? String(number + 1) : " ";
    const gap = " ".repeat(Math.max(0, longest - displayWidth(visible(word))));
    const left = cutToWidth(`${isSelected ? ">" : " "} ${digit} ${visible(word)}${gap}`, width);
    const right = cutToWidth(`  ${visible(about)}`, Math.max(0, width - displayWidth(left)));
    return `${styleText(isSelected ? "bold" : undefined, left)}${styleText(TONE.quiet, right)}`;
  });
  const hidden = choices.length - shown.length;
  const more = hidden === 0 ? "" : ` (${at + 1} of ${choices.length})`;
  return [
    styleText("bold", cutToWidth(`${title}${more}`, width)),
    ...shown,
    styleText(TONE.quiet, cutToWidth(KEYS, width)),
  ];
}
