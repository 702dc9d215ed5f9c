import type { ApprovalDetails } from "../../operations/approvals/approvals.ts";
import type { Pressed } from "../../terminal/input/key-decoder.ts";

/** The answer of one key. */
export interface KeyAnswer {
  readonly approve: boolean;
  readonly note?: string;
  readonly always?: true;
}

/** A request on the screen. */
export interface ShownRequest {
  /** Identifies it among the requests of all teams. */
  readonly key: string;
  readonly details: ApprovalDetails;
  /** It has an answer, or is closed; it stays on the screen until the user leaves it. */
  readonly isClosed: boolean;
}

/** The effect of a key. */
export type Action =
  | { readonly kind: "quit" | "interrupt" | "note" }
  | { readonly kind: "scroll"; readonly by: "row" | "page"; readonly sign: 1 | -1 }
  | { readonly kind: "end"; readonly to: "first" | "last" }
  | { readonly kind: "select"; readonly step: 1 | -1 }
  | { readonly kind: "answer"; readonly answer: KeyAnswer };

const scroll = (by: "row" | "page", sign: 1 | -1): Action => ({ kind: "scroll", by, sign });
const NEXT: Action = { kind: "select", step: 1 };
const PREVIOUS: Action = { kind: "select", step: -1 };

const CHARS: Readonly<Record<string, Action>> = {
  q: { kind: "quit" },
  m: { kind: "note" },
  j: scroll("row", 1),
  k: scroll("row", -1),
  " ": scroll("page", 1),
  b: scroll("page", -1),
  g: { kind: "end", to: "first" },
  G: { kind: "end", to: "last" },
  l: NEXT,
  h: PREVIOUS,
};

const EDIT_KEYS: Readonly<Record<string, Action>> = {
  up: scroll("row", -1),
  down: scroll("row", 1),
  left: PREVIOUS,
  right: NEXT,
  complete: NEXT,
  home: { kind: "end", to: "first" },
  end: { kind: "end", to: "last" },
};

/** Returns the effects of pressed keys, each with the typed text after it. */
export function keyActions(
  pressed: Pressed,
  shown: ShownRequest | undefined,
): readonly { readonly action: Action; readonly rest: string }[] {
  if (pressed.kind === "text") {
    const chars = [...pressed.text];
    return chars.flatMap((char, i) => {
      const action = charAction(char, shown);
      return action === undefined ? [] : [{ action, rest: chars.slice(i + 1).join("") }];
    });
  }
  const action = specialAction(pressed, shown);
  return action === undefined ? [] : [{ action, rest: "" }];
}

function charAction(char: string, shown: ShownRequest | undefined): Action | undefined {
  const answer = shown === undefined || shown.isClosed ? undefined : answerOf(char, shown.details);
  if (answer !== undefined) return { kind: "answer", answer };
  if (char === "m" && !takesNote(shown)) return undefined;
  return Object.hasOwn(CHARS, char) ? CHARS[char] : undefined;
}

function specialAction(pressed: Pressed, shown: ShownRequest | undefined): Action | undefined {
  switch (pressed.kind) {
    case "edit":
      return Object.hasOwn(EDIT_KEYS, pressed.key) ? EDIT_KEYS[pressed.key] : undefined;
    case "view":
      if (pressed.key === "page-down") return scroll("page", 1);
      return pressed.key === "page-up" ? scroll("page", -1) : undefined;
    case "enter":
      return takesNote(shown) ? { kind: "note" } : undefined;
    case "shift-tab":
      return PREVIOUS;
    case "escape":
    case "end-of-input":
      return { kind: "quit" };
    case "signal":
      return pressed.signal === "SIGINT" ? { kind: "interrupt" } : undefined;
    default:
      return undefined;
  }
}

/** Whether an answer to the shown request may have a note. */
function takesNote(shown: ShownRequest | undefined): boolean {
  return shown !== undefined && !shown.isClosed && shown.details.kind !== "crash";
}

/** Returns the answer of a key to a request; undefined if the key does not answer it. */
function answerOf(char: string, details: ApprovalDetails): KeyAnswer | undefined {
  const { kind, choices = [], always = [] } = details;
  if (choices.length > 0 && !(char === "y" && details.default !== undefined)) {
    const choice = /^[1-9]$/.test(char) ? choices[Number(char) - 1] : undefined;
    return choice === undefined ? undefined : { approve: true, note: choice };
  }
  if (char === "y") return { approve: true };
  if (char === "n") return { approve: false };
  return char === "a" && kind === "permission" && always.length > 0
    ? { approve: true, always: true }
    : undefined;
}

/** Returns the keys that apply now, with their meanings. */
export function keyWords(
  shown: ShownRequest | undefined,
  state: { readonly unseen: number; readonly isScrollable: boolean; readonly count: number },
): readonly (readonly [key: string, word: string])[] {
  const keys: (readonly [string, string])[] = [];
  if (shown !== undefined && !shown.isClosed) keys.push(...answerWords(shown.details, state.unseen));
  if (takesNote(shown)) keys.push(["m", shown?.details.kind === "question" ? "answer" : "note"]);
  if (state.isScrollable) keys.push(["j k", "scroll"]);
  if (state.count > 1 || (shown?.isClosed === true && state.count > 0)) keys.push(["Tab", "next"]);
  return [...keys, ["q", "quit"]];
}

function answerWords(details: ApprovalDetails, unseen: number): readonly (readonly [string, string])[] {
  const { kind, choices = [], always = [] } = details;
  const [yes, no] = kind === "crash" ? ["restart", "remove"] : ["yes", "no"];
  const rest = `show ${unseen} more ${unseen === 1 ? "row" : "rows"}`;
  const digits = choices.length === 1 ? "1" : `1-${Math.min(9, choices.length)}`;
  const byDefault = details.default === undefined || unseen > 0 ? [] : [["y", "default"] as const];
  if (choices.length > 0) return [[digits, unseen > 0 ? rest : "choose"], ...byDefault];
  if (unseen > 0)
    return [
      ["y", rest],
      ["n", no],
    ];
  return [
    ["y", yes],
    ["n", no],
    ...(kind === "permission" && always.length > 0 ? [["a", "always"] as const] : []),
  ];
}
