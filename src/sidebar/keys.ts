/** What a key does. */
export type Action =
  | "down"
  | "up"
  | "first"
  | "last"
  | "go"
  | "approve"
  | "reject"
  | "hide"
  | "tasks"
  | "help"
  | "back"
  | "close";

interface KeyBinding {
  readonly action: Action;
  /** As blessed names them. */
  readonly keys: readonly string[];
  /** As a person reads them. */
  readonly label: string;
  /** The same where room is dear. */
  readonly short?: string;
  readonly does: string;
  /** Its word at the bottom of the screen; those without are in the help alone. */
  readonly hint?: string;
}

/** Every key of the sidebar; the help and the bottom line are made of this table. */
export const KEYS: readonly KeyBinding[] = [
  { action: "down", keys: ["j", "down"], label: "j ↓", does: "next" },
  { action: "up", keys: ["k", "up"], label: "k ↑", does: "previous" },
  { action: "first", keys: ["g", "home"], label: "g", does: "first" },
  { action: "last", keys: ["S-g", "end"], label: "G", does: "last" },
  { action: "go", keys: ["enter"], label: "Enter", short: "↵", does: "go to the pane", hint: "go" },
  { action: "approve", keys: ["a"], label: "a", does: "approve what waits" },
  { action: "reject", keys: ["r"], label: "r", does: "reject what waits" },
  { action: "hide", keys: ["h"], label: "h", does: "hide or show its pane" },
  { action: "tasks", keys: ["t"], label: "t", does: "task list, and back", hint: "tasks" },
  { action: "help", keys: ["?"], label: "?", does: "these keys", hint: "help" },
  { action: "back", keys: ["escape"], label: "Esc", does: "back to the team" },
  { action: "close", keys: ["q", "C-c"], label: "q", does: "close", hint: "close" },
];

/** The action of a key as blessed names it (`j`, `S-g`, `C-c`). */
export function actionOf(key: string): Action | undefined {
  return KEYS.find((binding) => binding.keys.includes(key))?.action;
}
