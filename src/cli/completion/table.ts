import { BUILT_IN_ADAPTERS } from "../../adapter/built-in-adapters.ts";
import { LAYOUTS } from "../../backend/tmux/layout-commands.ts";
import { PERMISSION_MODES } from "../../schema/permission-modes.ts";
import type { ArgumentSpec, OptionSpec } from "../../terminal/call.ts";
import { longName } from "../../text/terminal-text.ts";
import { type Command, optionsOf } from "../command.ts";
import { SHELLS } from "./scripts.ts";

/** The source of a value's completions: names that change (`live`), or else paths, or fixed words. Absent for free text. */
export type ValueSource =
  | { readonly live: LiveKind; readonly path?: "file" }
  | { readonly path: "file" | "directory" }
  | { readonly words: readonly string[] };

/** `places` are agents and teams: the commands that take either. */
export type LiveKind = "agents" | "places" | "recordings" | "requests" | "tasks" | "teams";

export interface CompletedOption {
  readonly about: string;
  readonly short?: string;
  /** Absent for a switch. */
  readonly value?: ValueSource | "text";
  /** Its value only follows `=`. */
  readonly inline?: true;
  /** May be given more than once. */
  readonly many?: true;
}

export interface CompletedCommand {
  readonly about: string;
  readonly args: readonly { readonly value: ValueSource | "text"; readonly many?: true }[];
  /** By their long names, without dashes. */
  readonly options: Readonly<Record<string, CompletedOption>>;
}

/** All completions that need no team: the commands, by name. It is written once, when the program is built. */
export type CompletionTable = Readonly<Record<string, CompletedCommand>>;

/** @param commands all commands, by name */
export function completionTable(commands: readonly Command[]): CompletionTable {
  return Object.fromEntries(commands.map((command) => [command.name, completed(command)]));
}

function completed(command: Command): CompletedCommand {
  const options = Object.entries(command.raw ? command.options : optionsOf(command)).filter(
    ([key]) => !(command.ignoresTeamOptions && (key === "team" || key === "as")),
  );
  return {
    about: command.summary,
    args: command.args.map((spec) => ({
      value: argumentValue(command.name, spec),
      ...(spec.many && { many: true as const }),
    })),
    options: Object.fromEntries(options.map(([key, spec]) => [longName(key), completedOption(key, spec)])),
  };
}

function completedOption(key: string, spec: OptionSpec): CompletedOption {
  return {
    about: spec.summary,
    ...(spec.short !== undefined && { short: spec.short }),
    ...(spec.value !== undefined && {
      value: optionValue(key, spec.value, spec.choices),
    }),
    ...(spec.inline && { inline: true as const }),
    ...(spec.many && { many: true as const }),
  };
}

function optionValue(
  key: string,
  name: string,
  choices: readonly string[] | undefined,
): ValueSource | "text" {
  if (choices !== undefined) return { words: choices };
  return key === "cli" ? { words: CLIS } : valueCalled(name);
}

/** The built-in values of `--cli`, without adapters of the settings. `--acp` and `--native` select the names with a form. */
const CLIS = Object.keys(BUILT_IN_ADAPTERS).filter((id) => !/-(acp|native)$/.test(id));

/** Operands whose name does not say what they are. */
const ARGUMENTS: Readonly<Record<string, ValueSource | "text">> = {
  "bg id": "text",
  "budget name": { live: "places" },
  "create name": "text",
  "attach name": { live: "places" },
  "kill name": { live: "places" },
  "layout name": { words: LAYOUTS },
  "mode mode": { words: PERMISSION_MODES },
  "spawn name": "text",
  "import archive": { path: "file" },
  "completion action": { words: [...SHELLS, "install", "uninstall"] },
  "completion shell": { words: SHELLS },
};

function argumentValue(command: string, { name }: ArgumentSpec): ValueSource | "text" {
  const known = ARGUMENTS[`${command} ${name}`];
  if (known !== undefined) return known;
  return name === "name" ? { live: "teams" } : valueCalled(name);
}

/** The kinds of values, by the name of an operand or of an option's value. */
const VALUES: Readonly<Record<string, ValueSource>> = {
  agent: { live: "agents" },
  "agent|file.cast": { live: "recordings", path: "file" },
  blocker: { live: "tasks" },
  directory: { path: "directory" },
  file: { path: "file" },
  id: { live: "tasks" },
  ids: { live: "tasks" },
  member: { live: "agents" },
  request: { live: "requests" },
  team: { live: "teams" },
};

function valueCalled(name: string): ValueSource | "text" {
  return VALUES[name] ?? "text";
}
