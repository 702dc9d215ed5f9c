import { didYouMean } from "../../schema/did-you-mean.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import { PERMISSION_MODES } from "../../schema/permission-modes.ts";
import { wrapRow } from "../../text/word-wrap.ts";

interface SlashCommand {
  /** Its arguments as the help shows them. */
  readonly usage?: string;
  readonly help: string;
  /** The choices for its first argument. */
  readonly choices?: readonly string[];
  /** The command only shows something: Enter runs it even if its name is incomplete. */
  readonly onlyShows?: true;
  /** The words that the command takes after its name; any words if omitted. */
  readonly arguments?: RegExp;
  /** Only in the lead's pane. */
  readonly leadOnly?: true;
  /** The differences in a teammate's pane. */
  readonly teammate?: Pick<SlashCommand, "usage" | "help" | "arguments" | "choices">;
  /** The command runs in the lead's directory: a teammate's worktree is not the checkout that gets the work. */
  readonly inLeadDirectory?: true;
  /** The same command of `teams`. */
  readonly teams?: (agent: string, words: readonly string[]) => readonly string[] | undefined;
}

const NONE = /^$/;
const MODE = new RegExp(`^(?:${PERMISSION_MODES.join("|")})?$`);

/** The commands that a person can type in an agent's pane. */
const SLASH_COMMANDS = {
  help: { help: "show this help", arguments: NONE, onlyShows: true },
  status: {
    help: "show the members, what they do and what is waiting for you",
    arguments: NONE,
    onlyShows: true,
    teams: () => ["status"],
  },
  tasks: { help: "show the task list", arguments: NONE, onlyShows: true, teams: () => ["task", "list"] },
  bg: {
    usage: "[id [end]]",
    help: "list this agent's background commands and subagents; show one; end it",
    arguments: /^(?:\S+(?: end)?)?$/,
    onlyShows: true,
    teams: (agent, [id, end]) => [
      "bg",
      agent,
      ...(id === undefined ? [] : [id]),
      ...(end === undefined ? [] : ["--kill"]),
    ],
  },
  cost: {
    help: "show the tokens and the cost of this agent and of the team",
    arguments: NONE,
    onlyShows: true,
  },
  mode: {
    usage: "[mode]",
    help: `show the permission mode; change it: ${PERMISSION_MODES.join(", ")}`,
    arguments: MODE,
    choices: PERMISSION_MODES,
    onlyShows: true,
    teams: (agent, [mode]) => (mode === undefined ? undefined : ["mode", agent, mode]),
  },
  model: {
    usage: "[id]",
    help: "show the model; change it from the next turn on: haiku, sonnet, opus, or an id",
    arguments: /^\S*$/,
    choices: ["haiku", "sonnet", "opus"],
    onlyShows: true,
  },
  compact: {
    usage: "[focus]",
    help: "replace the conversation with a summary; name the part that it must keep",
  },
  clear: {
    help: "start an empty conversation; `teams logs` still shows the previous one",
    arguments: NONE,
  },
  diff: {
    usage: "[--stat]",
    help: "show what this agent has changed; in the lead's pane, all agents",
    arguments: /^(?:--stat)?$/,
    choices: ["--stat"],
    onlyShows: true,
    teams: (agent, words) => ["diff", ...(agent === LEAD_NAME ? [] : [agent]), ...words],
  },
  land: {
    usage: "[agent …]",
    help: "check this agent's work and land it; in the lead's pane, that of the named agents, or of all",
    inLeadDirectory: true,
    teammate: { help: "check this agent's work and land it", arguments: NONE },
    teams: (agent, words) => ["land", ...(agent === LEAD_NAME ? words : [agent])],
  },
  delegate: {
    help: "let the lead only coordinate; again: let the lead work itself, too",
    arguments: NONE,
    leadOnly: true,
  },
  export: { usage: "[file]", help: "write this conversation to a new text file" },
  exit: {
    usage: "[--delete]",
    help: "end the run; unfinished work is kept, unless you add --delete (also Ctrl-D, or Ctrl-C twice)",
    arguments: /^(?:--delete)?$/,
    choices: ["--delete"],
    teammate: {
      choices: [],
      help: "ask this agent to shut down: it ends once it agrees (Ctrl-C twice ends it at once)",
      arguments: NONE,
    },
  },
} as const satisfies Readonly<Record<string, SlashCommand>>;

export type SlashName = keyof typeof SLASH_COMMANDS;

/** A line that a person typed in an agent's pane. */
export type PaneLine =
  | { readonly kind: "message" }
  | { readonly kind: "slash"; readonly name: SlashName; readonly words: readonly string[] }
  /** A command for the person's own shell. */
  | { readonly kind: "shell"; readonly command: string }
  /** Begins like a command, but is not a valid one. It is not sent to the agent. */
  | { readonly kind: "unknown"; readonly reason: string };

/**
 * Parses a line as a command or as a message to the agent. A line that begins with an existing path is a message.
 * @param exists whether this path exists
 */
export function parsePaneLine(line: string, agent: string, exists: (path: string) => boolean): PaneLine {
  const shell = /^\s*!\s*(\S[\s\S]*)$/.exec(line)?.[1];
  if (shell !== undefined) return { kind: "shell", command: shell };
  const [, word, rest = ""] = /^\s*(\/[a-z][\w-]*)(?:\s+(.*\S))?\s*$/is.exec(line) ?? [];
  if (word === undefined) return { kind: "message" };
  const name = word.slice(1).toLowerCase();
  const names = slashNames(agent);
  if (!isName(name, names)) {
    if (exists(word)) return { kind: "message" };
    const hint = didYouMean(name, names, "/help lists the commands");
    return { kind: "unknown", reason: `there is no ${word}, and nothing was sent. ${hint}` };
  }
  const words = rest === "" ? [] : rest.split(/\s+/);
  const { arguments: allowed, usage } = slashCommand(name, agent);
  if (allowed === undefined || allowed.test(words.join(" "))) return { kind: "slash", name, words };
  const takes = usage === undefined ? "takes no arguments" : `takes ${usage}`;
  return { kind: "unknown", reason: `${word} ${takes}: nothing was done or sent` };
}

/** The commands in the pane of this agent. */
export function slashNames(agent: string): readonly SlashName[] {
  return (Object.keys(SLASH_COMMANDS) as SlashName[]).filter((name) => {
    const { leadOnly }: SlashCommand = SLASH_COMMANDS[name];
    return leadOnly === undefined || agent === LEAD_NAME;
  });
}

/** Returns a command as it is in the pane of this agent. */
export function slashCommand(name: SlashName, agent: string): SlashCommand {
  const command: SlashCommand = SLASH_COMMANDS[name];
  const { teammate, usage: _usage, ...rest } = command;
  return agent === LEAD_NAME || teammate === undefined ? command : { ...rest, ...teammate };
}

export function isName(word: string, names: readonly SlashName[]): word is SlashName {
  return (names as readonly string[]).includes(word);
}

/** Returns the command line of `teams` that does what this command does, if there is one. */
export function teamsCommand(
  name: SlashName,
  agent: string,
  words: readonly string[],
): readonly string[] | undefined {
  const { teams }: SlashCommand = SLASH_COMMANDS[name];
  return teams?.(agent, words);
}

/** Returns the help: the commands in the pane of this agent, and the keys of the input line, wrapped to a width. */
export function slashHelp(agent: string, width: number): string {
  const commands = slashNames(agent).map((name): readonly [string, string] => {
    const { usage, help } = slashCommand(name, agent);
    return [`/${name}${usage === undefined ? "" : ` ${usage}`}`, help];
  });
  const rowsOf = ([what, help]: readonly [string, string]): readonly string[] => {
    const rows = wrapRow(help, Math.max(MIN_HELP, width - HELP_COLUMN));
    return rows.map((row, i) => `${(i === 0 ? what : "").padEnd(HELP_COLUMN)}${row}`);
  };
  return [...commands.flatMap(rowsOf), "", ...KEYS.flatMap(rowsOf)].join("\n");
}

const HELP_COLUMN = 18;
const MIN_HELP = 20;
const KEYS: readonly (readonly [string, string])[] = [
  ["!command", "run a command for yourself; the agent does not see it"],
  ["@name", "name a teammate or a file; Tab completes it"],
  ["y, n, a, e", "answer the agent's request, in an empty line: yes, no, always; explain it"],
  ["Alt-Enter, \\Enter", "start a new line"],
  ["Up, Ctrl-R", "earlier lines; search them"],
  ["Shift+Tab", "the next permission mode"],
  ["Ctrl-O", "show the last shortened result in full; again: the previous one"],
  ["Ctrl-L", "redraw the pane"],
  ["Esc", "interrupt the agent, or your own command"],
  ["Ctrl-C", "discard the line; twice in an empty line: end the run, or this teammate"],
];
