import type { HistoryWalk } from "./history-walk.ts";
import type { PaneKey, TypedSignal, ViewKey } from "./key-decoder.ts";
import type { Suggestions } from "./suggestions.ts";

/** The result of typed keys. */
export type Typed =
  /** The line, its cursor or its suggestions have changed. */
  | { readonly kind: "changed" }
  /** @param begun when its first character came, in milliseconds of the steady clock */
  | { readonly kind: "line"; readonly line: string; readonly begun: number }
  /** One key that answers a question, pressed alone in an empty line: followed by Enter, or by no other key. */
  | { readonly kind: "answer"; readonly char: string }
  | { readonly kind: "escape" }
  | { readonly kind: "shift-tab" }
  | { readonly kind: "key"; readonly key: ViewKey }
  | { readonly kind: "pane"; readonly key: PaneKey }
  /** The line is full and ignores additional characters; reported once for each line. */
  | { readonly kind: "full" }
  /** Ctrl-D in an empty line. */
  | { readonly kind: "end" }
  | { readonly kind: "signal"; readonly signal: TypedSignal; readonly dropped: boolean };

/** The typed line as the input rows show it. */
export interface EditedLine {
  readonly text: string;
  readonly cursor: number;
  readonly suggestions: Suggestions | undefined;
  /** A search in the history (Ctrl-R). */
  readonly search: HistoryWalk["search"];
}

/** Keeps only the last of consecutive changes, because one drawing shows them all. */
export function withoutRepeats(typed: readonly Typed[]): Typed[] {
  return typed.filter((one, i) => one.kind !== "changed" || typed[i + 1]?.kind !== "changed");
}
