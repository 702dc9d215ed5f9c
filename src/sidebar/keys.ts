/** A view of the sidebar: a list of the team, or a document. */
export type View = ListView | "help" | "request" | "diff" | "task" | "messages" | "log" | "teams";
export type ListView = "team" | "tasks" | "graph";

export type Action =
  | "down"
  | "up"
  | "first"
  | "last"
  | "page-down"
  | "page-up"
  | "go"
  | "zoom"
  | "approve"
  | "reject"
  | "view"
  | "next"
  | "yes"
  | "no"
  | "always"
  | "diff"
  | "comment"
  | "send-comments"
  | "next-file"
  | "previous-file"
  | "messages"
  | "write"
  | "log"
  | "task"
  | "search"
  | "next-match"
  | "previous-match"
  | "interrupt"
  | "shutdown"
  | "kill"
  | "hide"
  | "spawn"
  | "tasks"
  | "graph"
  | "filter"
  | "teams"
  | "help"
  | "back"
  | "close";

/** A state of the sidebar that decides whether a key's hint is shown. */
export type Condition =
  | "asks"
  | "others-ask"
  | "member"
  | "task"
  | "teammate"
  | "in-turn"
  | "has-rules"
  | "has-more"
  | "has-place"
  | "has-comments"
  | "has-files"
  | "has-search"
  | "has-back";

export interface KeyBinding {
  readonly action: Action;
  /** As blessed names them. */
  readonly keys: readonly string[];
  /** As shown to the user. */
  readonly label: string;
  /** A shorter label, for the footer. */
  readonly short?: string;
  readonly does: string;
  readonly in: readonly View[];
  /** Its label in the footer; a key without a hint is only in the help. */
  readonly hint?: string;
  /** Its hint is shown only under this condition. */
  readonly when?: Condition;
  /** When hints do not fit, the one with the highest rank is dropped first. */
  readonly rank?: number;
}

const LISTS: readonly View[] = ["team", "tasks", "graph"];
const DOCUMENTS: readonly View[] = ["help", "request", "diff", "task", "messages", "log", "teams"];
const PAGED: readonly View[] = ["help", "request", "diff", "task", "messages", "log"];
const ALL: readonly View[] = [...LISTS, ...DOCUMENTS];
/** In the others, `n` is an answer, or there is nothing to search. */
const SEARCHED: readonly View[] = ["help", "diff", "task", "messages", "log"];

type Hint = Pick<KeyBinding, "hint" | "when" | "rank" | "short">;

/** @param keys as blessed names them, separated by spaces */
function bind(
  views: readonly View[],
  keys: string,
  label: string,
  action: Action,
  does: string,
  hint: Hint = {},
): KeyBinding {
  return { in: views, keys: keys.split(" "), label, action, does, ...hint };
}

/** All keys of all views; source of the help and the footer. */
export const KEYS: readonly KeyBinding[] = [
  bind(LISTS, "a y", "a y", "approve", "approve the shown request", {
    hint: "approve",
    when: "asks",
    rank: 0,
    short: "a",
  }),
  bind(LISTS, "r", "r", "reject", "reject the request", { hint: "reject", when: "asks", rank: 0 }),
  bind(LISTS, "v", "v", "view", "view the whole request", { hint: "view", when: "asks", rank: 1 }),
  bind(LISTS, "n", "n", "next", "next waiting request", {
    hint: "next request",
    when: "others-ask",
    rank: 1,
  }),
  bind(["request"], "y", "y", "yes", "yes", { hint: "yes", rank: 0 }),
  bind(["request"], "n", "n", "no", "no", { hint: "no", rank: 0 }),
  bind(["request"], "a", "a", "always", "yes, always", { hint: "always", when: "has-rules", rank: 3 }),
  bind(["diff"], "c", "c", "comment", "comment on the line", { hint: "comment", when: "has-place", rank: 3 }),
  bind(["diff"], "s", "s", "send-comments", "send the comments", {
    hint: "send",
    when: "has-comments",
    rank: 0,
  }),
  bind(["diff"], "]", "]", "next-file", "next file", { hint: "next file", when: "has-files", rank: 5 }),
  bind(["diff"], "[", "[", "previous-file", "previous file"),
  bind(["messages"], "m enter", "m ↵", "write", "write a message", { hint: "write", rank: 0, short: "m" }),
  bind(LISTS, "enter", "Enter", "go", "go to the pane", { hint: "go", when: "member", rank: 5, short: "↵" }),
  bind(["teams"], "enter", "Enter", "go", "show this team", { hint: "show", rank: 0, short: "↵" }),
  bind(LISTS, "z", "z", "zoom", "go to the pane and zoom it", { hint: "zoom", when: "member", rank: 12 }),
  bind(LISTS, "m", "m", "messages", "its messages; write one", { hint: "message", when: "member", rank: 6 }),
  bind(LISTS, "d", "d", "diff", "its changes; comments", { hint: "diff", when: "member", rank: 7 }),
  bind(LISTS, "l", "l", "log", "its conversation", { hint: "log", when: "member", rank: 8 }),
  bind(["tasks", "graph"], "o", "o", "task", "the task and its proof", {
    hint: "open",
    when: "task",
    rank: 9,
  }),
  bind(LISTS, "i", "i", "interrupt", "interrupt its turn", { hint: "interrupt", when: "in-turn", rank: 10 }),
  bind(LISTS, "s", "s", "shutdown", "ask it to shut down", { hint: "shut down", when: "teammate", rank: 13 }),
  bind(LISTS, "S-k", "K", "kill", "kill it (asks first)", { hint: "kill", when: "teammate", rank: 14 }),
  bind(LISTS, "h", "h", "hide", "hide or show its pane", { hint: "hide", when: "teammate", rank: 15 }),
  bind(LISTS, "+", "+", "spawn", "spawn a teammate", { hint: "spawn", rank: 11 }),
  bind(LISTS, "t", "t", "tasks", "task list, and back", { hint: "tasks", rank: 9 }),
  bind(LISTS, "w", "w", "graph", "task dependencies", { hint: "graph", rank: 16 }),
  bind(LISTS, "/", "/", "filter", "filter", { hint: "filter", rank: 17 }),
  bind(PAGED, "/", "/", "search", "search", { hint: "search", rank: 6 }),
  bind(SEARCHED, "n", "n", "next-match", "next match", { hint: "next", when: "has-search", rank: 4 }),
  bind(SEARCHED, "S-n", "N", "previous-match", "previous match"),
  bind(LISTS, "S-t", "T", "teams", "switch to another team", { hint: "teams", rank: 18 }),
  bind(ALL, "j down", "j ↓", "down", "down"),
  bind(ALL, "k up", "k ↑", "up", "up"),
  bind(ALL, "g home", "g", "first", "first"),
  bind(ALL, "S-g end", "G", "last", "last"),
  bind(PAGED, "space pagedown C-d", "Space", "page-down", "a page down", {
    hint: "page",
    when: "has-more",
    rank: 2,
  }),
  bind(PAGED, "b pageup C-u", "b", "page-up", "a page up"),
  bind(LISTS, "?", "?", "help", "all keys and symbols", { hint: "help", rank: 4 }),
  bind(LISTS, "escape", "Esc", "back", "clear failures and filter", {
    hint: "clear",
    when: "has-back",
    rank: 1,
  }),
  bind(DOCUMENTS, "q escape", "q Esc", "back", "back", { hint: "back", rank: 1, short: "q" }),
  bind(LISTS, "q", "q", "close", "close the sidebar", { hint: "close", rank: 2 }),
  bind(ALL, "C-c", "^C", "close", "close the sidebar"),
];

const ACTIONS: ReadonlyMap<string, Action> = new Map(
  KEYS.flatMap(({ action, keys, in: views }) =>
    views.flatMap((view) => keys.map((key) => [`${view} ${key}`, action] as const)),
  ),
);

/** The action of a key as blessed names it (`j`, `S-g`, `C-c`) in a view. */
export function actionOf(key: string, view: View = "team"): Action | undefined {
  return ACTIONS.get(`${view} ${key}`);
}
