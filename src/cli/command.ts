import { parseArgs } from "node:util";
import { TeamError } from "../errors.ts";
import { type ArgumentSpec, type Call, COMMON_OPTIONS, type OptionSpecs } from "../terminal/call.ts";
import type { Io } from "../terminal/io.ts";
import type { Output } from "../terminal/output.ts";
import { longName } from "../text/terminal-text.ts";

interface Declaration<A extends readonly ArgumentSpec[], O extends OptionSpecs> {
  /** As the user types it: `send`, `task add`. */
  readonly name: string;
  /** One line, in the list of commands. */
  readonly summary: string;
  readonly args: A;
  readonly options: O;
  /** The first lines of the command's help, if they are more than the summary. */
  readonly description?: string;
  /** Two or three complete command lines. */
  readonly examples: readonly string[];
  /** Additional text of the help. */
  readonly notes?: string;
  /** The command reads its arguments from `io.argv`, unparsed. */
  readonly raw?: boolean;
  /** `--team` and `--as` have no effect on the command, and are not in its help. */
  readonly ignoresTeamOptions?: boolean;
  /** @returns the exit status; undefined is 0 */
  run(call: Call<A, O>): Promise<number | undefined> | Promise<void>;
}

/** A command without the types of its operands and options, as the program parses and runs it. */
export interface Command {
  readonly name: string;
  readonly summary: string;
  readonly args: readonly ArgumentSpec[];
  readonly options: OptionSpecs;
  readonly description?: string;
  readonly examples: readonly string[];
  readonly notes?: string;
  readonly raw?: boolean;
  readonly ignoresTeamOptions?: boolean;
  run(call: RawCall): Promise<number | undefined> | Promise<void>;
}

/** Loads the file of a command. */
export type LoadCommand = () => Promise<{ readonly command: Command }>;

/** Commands by their headings of `teams --help`, then by name. */
export type CommandGroups = Readonly<Record<string, Readonly<Record<string, LoadCommand>>>>;

/** A parsed command line that its {@link Command} accepts; both parsers return it. */
export interface RawCall {
  readonly args: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly options: Readonly<Record<string, OptionInput>>;
  readonly io: Io;
  readonly out: Output;
  readonly runProgram: (io: Io) => Promise<number>;
}
export type OptionInput = string | boolean | readonly string[] | undefined;

/**
 * Declares a command. The types of `args` and `options` in its body follow from the declaration: the parser checks every
 * command line against it before it calls the body.
 */
export function defineCommand<const A extends readonly ArgumentSpec[], const O extends OptionSpecs>(
  declaration: Declaration<A, O>,
): Command {
  const { run, ...rest } = declaration;
  return { ...rest, run: (call) => run(call as unknown as Call<A, O>) };
}

/** Returns the options of a command: its own, and the common options that it does not declare itself. */
export function optionsOf(command: Pick<Command, "options">): OptionSpecs {
  return { ...command.options, ...omit(COMMON_OPTIONS, command.options) };
}

function omit(specs: OptionSpecs, names: OptionSpecs): OptionSpecs {
  return Object.fromEntries(Object.entries(specs).filter(([key]) => !Object.hasOwn(names, key)));
}

/** A parsed command line: options by key, operands in order. */
export interface ParsedLine {
  readonly operands: readonly string[];
  readonly options: Readonly<Record<string, OptionInput>>;
}

/**
 * Parses a correct command line without loading commander, so that a cold command costs little more than the start of
 * Node. `parseWithCommander` in `help.ts` handles mistakes and `--help`, and parses correct lines in the same way.
 * @returns undefined for a line with a mistake, `--help`, or another spelling of an option
 */
export function parseQuickly(command: Command, words: readonly string[]): ParsedLine | undefined {
  const specs = optionsOf(command);
  const options = Object.fromEntries(
    Object.entries(specs).map(([key, spec]) => [
      longName(key),
      {
        // A bare inline option is a switch: it takes no word after it.
        type:
          spec.value === undefined || (spec.inline && words.includes(`--${longName(key)}`))
            ? ("boolean" as const)
            : ("string" as const),
        ...(spec.short === undefined ? {} : { short: spec.short }),
        ...(spec.many ? { multiple: true } : {}),
      },
    ]),
  );
  try {
    const parsed = parseArgs({ args: [...words], options, allowPositionals: true });
    const values = parsed.values as Record<string, OptionInput>;
    return {
      operands: parsed.positionals,
      options: Object.fromEntries(Object.keys(specs).map((key) => [key, values[longName(key)]])),
    };
  } catch {
    // `parseWithCommander` explains the mistake, or knows the spelling.
    return undefined;
  }
}

/**
 * Checks a parsed line against the declaration: the number of operands, and the values of options with choices.
 * @throws TeamError INVALID_INPUT
 */
export function bind(command: Command, line: ParsedLine): Pick<RawCall, "args" | "options"> {
  return { args: bindOperands(command, line), options: bindOptions(command, line.options) };
}

function bindOperands(command: Command, line: ParsedLine): RawCall["args"] {
  const rest = [...line.operands];
  const args: Record<string, string | readonly string[] | undefined> = {};
  for (const spec of command.args) {
    const taken = spec.many ? rest.splice(0) : rest.splice(0, 1);
    if (taken.length === 0 && !spec.optional) {
      throw usageError(
        command,
        `needs <${spec.name}>: ${spec.summary}.`,
        takenByOption(command, line.options),
      );
    }
    args[spec.name] = spec.many ? taken : taken[0];
  }
  const extra = rest[0];
  if (extra === undefined) return args;
  const many = repeatableOption(command, line.options);
  const hint = many && `Repeat ${many} before each additional value.`;
  throw usageError(command, `has one word too many: ${JSON.stringify(extra)}.`, hint);
}

/** Returns a given option that takes several values: the user may have meant an extra word for it. */
function repeatableOption(command: Command, given: ParsedLine["options"]): string | undefined {
  const key = Object.keys(command.options).find(
    (name) => command.options[name]?.many && given[name] !== undefined,
  );
  return key && `--${longName(key)}`;
}

/** Explains a missing operand: an option with an optional value may have taken the word. */
function takenByOption(command: Command, given: ParsedLine["options"]): string | undefined {
  for (const [key, spec] of Object.entries(command.options)) {
    const value = given[key];
    if (spec.valueOptional && !spec.inline && typeof value === "string")
      return `${JSON.stringify(value)} was read as the ${spec.value} of --${longName(key)}; write the option last.`;
  }
  return undefined;
}

function bindOptions(command: Command, given: ParsedLine["options"]): RawCall["options"] {
  const bound: Record<string, OptionInput> = {};
  for (const [key, spec] of Object.entries(optionsOf(command))) {
    const value = given[key];
    if (spec.value === undefined) bound[key] = value === true;
    else bound[key] = spec.many ? (value ?? []) : value;
    const invalid = [value]
      .flat()
      .find((word) => typeof word === "string" && spec.choices?.includes(word) === false);
    if (invalid !== undefined) {
      const choices = spec.choices?.join(", ") ?? "";
      throw usageError(
        command,
        `does not accept --${longName(key)} ${JSON.stringify(invalid)}; the values are ${choices}.`,
      );
    }
  }
  return bound;
}

/** Makes the error for a wrong command line. @param message the rest of a sentence that begins with the command's name */
export function usageError(
  command: Pick<Command, "name" | "args">,
  message: string,
  hint?: string,
): TeamError {
  const usage = `Usage: ${usageOf(command)} (more: teams ${command.name} --help)`;
  return new TeamError("INVALID_INPUT", `${command.name} ${message}`, {
    hint: hint === undefined ? usage : `${hint} ${usage}`,
  });
}

/** Returns `teams send <agent> <text...> [options]`. */
export function usageOf(command: Pick<Command, "name" | "args">): string {
  const operands = command.args.map((spec) => {
    const name = spec.many ? `${spec.name}...` : spec.name;
    return spec.optional ? `[${name}]` : `<${name}>`;
  });
  return ["teams", command.name, ...operands, "[options]"].join(" ");
}
