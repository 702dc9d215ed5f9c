/** What a person can type in a lead's pane besides words to it, and what each does. */
export const LEAD_COMMANDS = {
  status: "members, what they do, what waits for you",
  tasks: "the task list",
  delegate: "the lead only coordinates; once more, and it works itself again (also Shift+Tab)",
  exit: "ends the team, in order, and the run (also Ctrl-D, or Ctrl-C twice)",
  help: "these lines",
} as const;
export type LeadCommand = keyof typeof LEAD_COMMANDS;

/** What a typed line is. */
export type TypedLine =
  | { readonly kind: "message" }
  | { readonly kind: "command"; readonly command: LeadCommand }
  /** Begins as a command does and is none that there is: nobody is told of it. */
  | { readonly kind: "unknown"; readonly why: string };

/**
 * Tells a command from a message to the lead. A line that begins with a path is a message.
 * @param exists whether a file of this path is there
 */
export function readTypedLine(line: string, exists: (path: string) => boolean): TypedLine {
  const [, word, rest = ""] = /^\s*(\/[a-z][a-z-]*)(?:\s+(.*\S))?\s*$/is.exec(line) ?? [];
  if (word === undefined) return { kind: "message" };
  const command = word.slice(1).toLowerCase();
  if (!isCommand(command)) {
    return exists(word)
      ? { kind: "message" }
      : { kind: "unknown", why: `there is no ${word}; /help lists what there is` };
  }
  return rest === ""
    ? { kind: "command", command }
    : { kind: "unknown", why: `${word} takes nothing after it: the rest was not sent` };
}

function isCommand(word: string): word is LeadCommand {
  return Object.hasOwn(LEAD_COMMANDS, word);
}
