import type { History } from "./history.ts";

/** The line and its cursor before a search. */
interface SearchedFrom {
  readonly text: string;
  readonly cursor: number;
}

/** Access to earlier lines: one after the other, or by a search for a part of a line. */
export interface HistoryWalk {
  /** Whether Up and Down continue in the history: the line comes from it, and the cursor was not moved. */
  readonly isWalking: boolean;
  /** The typed text of a search, and whether a line contains it; undefined if none is open. */
  readonly search: { readonly query: string; readonly isFound: boolean } | undefined;
  /** Goes to an earlier line, or back to the typed one. @returns its text; undefined if there is none */
  step(step: "earlier" | "later", typed: string): string | undefined;
  /** Begins a search. @param typed the line, which {@link cancelSearch} returns */
  beginSearch(typed: SearchedFrom): void;
  /** Changes the text of a search. @returns the newest line that contains it */
  find(query: string): string | undefined;
  /** Goes to an earlier line with the same text. */
  findEarlier(): string | undefined;
  /** Ends the search, and keeps the found line. Up and Down continue from it. */
  endSearch(): void;
  /** Ends the search. @returns the line before it */
  cancelSearch(): SearchedFrom;
  /** The cursor was moved: Up and Down move in the line, and continue in the history at its first and last row. */
  moved(): void;
  /** The line was edited: it no longer counts as a line of the history. */
  edited(): void;
}

/** @param history returns undefined until the editor is connected to one */
export function historyWalk(history: () => History | undefined): HistoryWalk {
  /** Index of the shown line, counted from the newest; undefined for the typed one. */
  let recalled: number | undefined;
  let isWalking = false;
  let draft = "";
  let search: { readonly query: string; readonly at: number; readonly isFound: boolean } | undefined;
  let before: SearchedFrom = { text: "", cursor: 0 };
  /** Index of the line that the search has found last. */
  let found: number | undefined;
  /** The lines when the walk or the search began: other panes add to the history, and the indexes must not move. */
  let kept: readonly string[] = [];
  const entries = (): readonly string[] => {
    if (recalled === undefined && search === undefined) kept = history()?.entries() ?? [];
    return kept;
  };
  const findFrom = (query: string, from: number): string | undefined => {
    const lines = entries();
    const at = query === "" ? -1 : lines.findLastIndex((line, i) => i <= from && line.includes(query));
    search = { query, at: at === -1 ? from : at, isFound: query === "" || at !== -1 };
    if (at !== -1) found = at;
    return lines[at];
  };
  return {
    get isWalking() {
      return isWalking;
    },
    get search() {
      return search;
    },
    step(step, typed) {
      const lines = entries();
      const next = (recalled ?? -1) + (step === "earlier" ? 1 : -1);
      if (next < -1 || next >= lines.length) return undefined;
      if (recalled === undefined) draft = typed;
      recalled = next === -1 ? undefined : next;
      isWalking = next !== -1;
      return next === -1 ? draft : lines[lines.length - 1 - next];
    },
    beginSearch({ text, cursor }) {
      before = { text, cursor };
      found = undefined;
      findFrom("", entries().length - 1);
    },
    find: (query) => findFrom(query, entries().length - 1),
    findEarlier: () => (search === undefined ? undefined : findFrom(search.query, search.at - 1)),
    endSearch() {
      if (search !== undefined && found !== undefined) {
        if (recalled === undefined) draft = before.text;
        recalled = entries().length - 1 - found;
        isWalking = true;
      }
      search = undefined;
    },
    cancelSearch() {
      search = undefined;
      return before;
    },
    moved() {
      isWalking = false;
    },
    edited() {
      recalled = undefined;
      isWalking = false;
    },
  };
}
