import { type ArgumentSpec, type Call, COMMON_OPTIONS, type OptionSpecs } from "../terminal/call.ts";
import type { Io } from "../terminal/io.ts";
import type { Output } from "../terminal/output.ts";

interface Declaration<A extends readonly ArgumentSpec[], O extends OptionSpecs> {
  /** As the user types it: `send`, `task add`. */
  readonly name: string;
  /** One line, in the list of commands. */
  readonly summary: string;
  readonly args: A;
  readonly options: O;
  /** Two or three complete command lines. */
  readonly examples: readonly string[];
  /** Further text of the help. */
  readonly notes?: string;
  /** The command reads its arguments from `io.argv`, unparsed. */
  readonly raw?: boolean;
  /** The command works on no team or on all teams: `--team` and `--as` are not in its help. */
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
  readonly examples: readonly string[];
  readonly notes?: string;
  readonly raw?: boolean;
  readonly ignoresTeamOptions?: boolean;
  run(call: RawCall): Promise<number | undefined> | Promise<void>;
}

/** A parsed command line that its {@link Command} accepts; both parsers return it. */
export interface RawCall {
  readonly args: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly options: Readonly<Record<string, OptionInput>>;
  readonly io: Io;
  readonly out: Output;
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
