import { Command as Commander, CommanderError, Option } from "commander";
import type { TeamError } from "../../errors.ts";
import { nearestNames } from "../../schema/did-you-mean.ts";
import { COMMON_OPTIONS, type OptionSpec } from "../../terminal/call.ts";
import { shellWord } from "../../text/shell-quote.ts";
import { longName } from "../../text/terminal-text.ts";
import {
  bind,
  type Command,
  type CommandGroups,
  type OptionInput,
  optionsOf,
  type ParsedLine,
  usageError,
  usageOf,
} from "../command.ts";

/** Columns of the help if stdout is not a terminal, as in commander. */
const WIDTH = 80;
const COMMON = "Common options:";
/** Options that every command accepts, but that are not in the help of a command with `ignoresTeamOptions`. */
const TEAM_OPTIONS: readonly string[] = ["team", "as"];

/** The text of the help that the command line asked for. */
interface Help {
  readonly help: string;
}

/**
 * Parses a command line with commander. Slower to load than `parseQuickly`, but it writes the help and explains mistakes.
 * @throws TeamError INVALID_INPUT
 */
export function parseWithCommander(command: Command, words: readonly string[]): ParsedLine | Help {
  let help = "";
  const parser = parserOf(command).configureOutput({
    writeOut: (text) => {
      help += text;
    },
    writeErr: () => undefined,
  });
  try {
    parser.parse(withInlineValues(command, words), { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.code === "commander.helpDisplayed") return { help: help.trimEnd() };
    throw parseError(command, error, words);
  }
  const values = parser.opts<Record<string, string | boolean | string[]>>();
  const options = Object.entries(optionsOf(command)).map(
    ([key, spec]) => [key, optionValue(command, values, key, spec)] as const,
  );
  return { operands: parser.args, options: Object.fromEntries(options) };
}

/** Returns the list of all commands, or of those of a family such as `task`, under their headings. */
export async function commandOverview(groups: CommandGroups, family?: string): Promise<string> {
  const name = family === undefined ? "teams" : `teams ${family}`;
  const program = new Commander(name)
    .description(family === undefined ? "Run teams of coding agents in tmux." : `Commands of \`${name}\`.`)
    .usage("<command> [options]")
    .helpCommand(false)
    .helpOption("-h, --help", "print this help");
  // Only `teams` has a version, not `teams task`.
  if (family === undefined) program.option("-V, --version", "print the version");
  const loading = Object.entries(groups).flatMap(([heading, loads]) =>
    Object.entries(loads)
      .filter(([full]) => family === undefined || full.startsWith(`${family} `))
      .map(async ([, load]) => ({ heading, command: (await load()).command })),
  );
  for (const { heading, command } of await Promise.all(loading))
    program.addCommand(parserOf(command).name(command.name).helpGroup(`${heading}:`));
  program.configureHelp({
    subcommandTerm: (sub) => `${sub.name()} ${sub.usage()}`,
    showGlobalOptions: false,
  });
  return `${program.helpInformation().trimEnd()}\n\nMore about a command, with examples: ${name} <command> --help`;
}

function parserOf(command: Command): Commander {
  const parser = new Commander(`teams ${command.name}`)
    .summary(command.summary)
    .description(command.description ?? command.summary)
    .usage(usageOf(command).slice(`teams ${command.name} `.length))
    .exitOverride()
    .showSuggestionAfterError(false)
    .allowExcessArguments(true)
    .addHelpOption(helpOption(command));
  // All operands are optional here: `bind` checks their number, for both parsers alike.
  for (const spec of command.args)
    parser.argument(spec.many ? `[${spec.name}...]` : `[${spec.name}]`, spec.summary);
  for (const [key, spec] of Object.entries(command.options)) {
    parser.addOption(optionOf(key, spec));
    for (const other of otherSpellings(spec)) parser.addOption(other.hideHelp());
  }
  for (const [key, spec] of Object.entries(command.raw ? {} : COMMON_OPTIONS)) {
    if (Object.hasOwn(command.options, key)) continue;
    const option = optionOf(key, spec).helpGroup(COMMON);
    parser.addOption(command.ignoresTeamOptions && TEAM_OPTIONS.includes(key) ? option.hideHelp() : option);
  }
  const examples = command.examples.map((example) => `  $ ${example}`);
  const notes = command.notes === undefined ? [] : ["", wrapNotes(command.notes, parser)];
  parser.addHelpText("after", [...notes, "", "Examples:", ...examples].join("\n"));
  return parser;
}

/** Gives a bare inline option an empty value, since commander would take the next word. */
function withInlineValues({ options }: Command, words: readonly string[]): readonly string[] {
  const bare = Object.keys(options).flatMap((key) => (options[key]?.inline ? [`--${longName(key)}`] : []));
  const end = words.indexOf("--");
  return words.map((word, at) => (bare.includes(word) && (end < 0 || at < end) ? `${word}=` : word));
}

function wrapNotes(text: string, parser: Commander): string {
  return parser.createHelp().boxWrap(text, parser.configureOutput().getOutHelpWidth?.() ?? WIDTH);
}

function helpOption({ raw }: Command): Option {
  const option = new Option("-h, --help", "print this help");
  return raw ? option : option.helpGroup(COMMON);
}

function optionOf(key: string, spec: OptionSpec, long = longName(key)): Option {
  const short = spec.short === undefined ? "" : `-${spec.short}, `;
  const word = spec.valueOptional ? `[${spec.value}]` : `<${spec.value}>`;
  const value = spec.value === undefined ? "" : ` ${word}`;
  const choices = spec.choices === undefined ? "" : ` (${spec.choices.join(", ")})`;
  const option = new Option(`${short}--${long}${value}`, `${spec.summary}${choices}`);
  if (spec.inline) option.flags = `${short}--${long}[=${spec.value}]`;
  return spec.many
    ? option.argParser((word, before: string[] | undefined) => [...(before ?? []), word])
    : option;
}

/**
 * Returns an option's value, which its shorthand may have set.
 * @throws TeamError INVALID_INPUT if the option and its shorthand contradict each other
 */
function valueWithShorthand(
  command: Command,
  [key, { shorthand }]: readonly [string, OptionSpec],
  value: OptionInput,
  isShorthandGiven: boolean,
): OptionInput {
  if (shorthand === undefined || !isShorthandGiven || value === shorthand.value) return value;
  if (value === undefined) return shorthand.value;
  throw usageError(command, `accepts --${longName(key)} ${String(value)} or --${shorthand.name}, not both.`);
}

/** Returns the alias, which commander stores under the option's own key, and the shorthand of an option. */
function otherSpellings({ alias, shorthand, short: _own, ...spec }: OptionSpec): Option[] {
  return [
    ...(alias === undefined ? [] : [optionOf(alias, spec, alias)]),
    ...(shorthand === undefined ? [] : [new Option(`--${shorthand.name}`)]),
  ];
}

/** Returns an option's value. Commander reads `--no-sidebar` as the negation of `sidebar`; here it is a normal switch. */
function optionValue(
  command: Command,
  values: Record<string, string | boolean | string[]>,
  key: string,
  spec: OptionSpec,
): OptionInput {
  const negated = /^no([A-Z])(.*)$/.exec(key);
  if (negated === null) {
    const value = values[key] === false ? undefined : values[key];
    if (spec.inline && value === "") return true;
    const name = spec.shorthand?.name;
    const isGiven = name !== undefined && values[new Option(`--${name}`).attributeName()] === true;
    return valueWithShorthand(command, [key, spec], value, isGiven);
  }
  return values[`${negated[1]?.toLowerCase()}${negated[2]}`] === false ? true : undefined;
}

function parseError(command: Command, error: CommanderError, words: readonly string[]): TeamError {
  const flag = /'(--?[^' ,=]*)/.exec(error.message)?.[1];
  if (error.code !== "commander.unknownOption" || flag === undefined) {
    return usageError(command, `cannot read this command line: ${error.message.replace(/^error: /, "")}.`);
  }
  const known = Object.keys(optionsOf(command)).map((key) => `--${longName(key)}`);
  if (known.includes(flag)) return usageError(command, `needs no value for ${flag}.`);
  const nearest = nearestNames(flag, [...known, "--help"])[0];
  // No option begins with three dashes, but a team's directory name can. No option contains a space, but a text can.
  const isMistyped =
    /^--(?!-)/.test(flag) && nearest !== undefined && !words.some((word) => isText(word, flag));
  const hint = isMistyped ? `Did you mean ${nearest}?` : dashHint(command, words, flag);
  return usageError(command, `has no option ${flag}.`, hint);
}

/** Whether a word that begins like an option can only be a text. */
function isText(word: string, flag: string): boolean {
  return word.startsWith(flag) && /\s/.test(word);
}

/** Whether the next word is part of a text of many words: of a goal that has begun, or of a message after its recipient. */
function isInText(command: Command, before: readonly string[]): boolean {
  const isMany = command.args.at(-1)?.many === true;
  const parsed = isMany ? parseWithCommander(command, before) : undefined;
  return (
    parsed !== undefined &&
    "operands" in parsed &&
    parsed.operands.length >= Math.max(1, command.args.length - 1)
  );
}

/** Returns the hint to write `--` before the word if the command accepts that; undefined if it would not help. */
function dashHint(command: Command, words: readonly string[], flag: string): string | undefined {
  const at = words.findIndex((word) => word === flag || word.startsWith(`${flag}=`) || isText(word, flag));
  const word = words[at];
  if (
    word === undefined ||
    (/^--(?!-)/.test(word) && !isText(word, flag) && !isInText(command, words.slice(0, at)))
  )
    return undefined;
  try {
    const parsed = parseWithCommander(command, [...words.slice(0, at), "--", ...words.slice(at)]);
    if ("help" in parsed) return undefined;
    bind(command, parsed);
  } catch {
    // The line has another mistake, which the hint would not fix.
    return undefined;
  }
  return `Write a word that begins with - after --, as in: -- ${shellWord(word)}.`;
}
