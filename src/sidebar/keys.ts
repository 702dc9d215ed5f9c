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
  /** As shown to the user. */
  readonly label: string;
  /** A shorter label, for the bottom line. */
  readonly short?: string;
  readonly does: string;
  /** Its word in the bottom line; keys without one are only in the help. */
  readonly hint?: string;
}

/** All keys of the sidebar; source of the help and the bottom line. */
export const KEYS: readonly KeyBinding[] = [
  { action: "down", keys: ["j", "down"], label: "j ↓", does: "next" },
  { action: "up", keys: ["k", "up"], label: "k ↑", does: "previous" },
  { action: "first", keys: ["g", "home"], label: "g", does: "first" },
  { action: "last", keys: ["S-g", "end"], label: "G", does: "last" },
  { action: "go", keys: ["enter"], label: "Enter", short: "↵", does: "go to the pane", hint: "go" },
  { action: "approve", keys: ["a"], label: "a", does: "approve the request" },
  { action: "reject", keys: ["r"], label: "r", does: "reject the request" },
  { action: "hide", keys: ["h"], label: "h", does: "hide or show its pane" },
  { action: "tasks", keys: ["t"], label: "t", does: "task list, and back", hint: "tasks" },
  { action: "help", keys: ["?"], label: "?", does: "this help", hint: "help" },
  { action: "back", keys: ["escape"], label: "Esc", does: "back to the team" },
  { action: "close", keys: ["q", "C-c"], label: "q", does: "close", hint: "close" },
];

/** The action of a key as blessed names it (`j`, `S-g`, `C-c`). */
export function actionOf(key: string): Action | undefined {
  return KEYS.find((binding) => binding.keys.includes(key))?.action;
}
