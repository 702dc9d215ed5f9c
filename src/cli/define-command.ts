import { type ArgumentSpec, type Call, COMMON_OPTIONS, type OptionSpecs } from "../terminal/call.ts";
import type { Io } from "../terminal/io.ts";
import type { Output } from "../terminal/output.ts";

interface Declaration<A extends readonly ArgumentSpec[], O extends OptionSpecs> {
  /** As it is typed: `send`, `task add`. */
  readonly name: string;
  /** One line, in the list of commands. */
  readonly summary: string;
  readonly args: A;
  readonly options: O;
  /** Two or three whole command lines. */
  readonly examples: readonly string[];
  /** What the help says besides. */
  readonly notes?: string;
  /** Takes its command line as it is, in `io.argv`, unparsed. */
  readonly raw?: boolean;
  /** Is about no team and no member, or about all. */
  readonly ignoresTeamOptions?: boolean;
  /** The exit status; nothing is 0. */
  run(call: Call<A, O>): Promise<number | undefined> | Promise<void>;
}

/** A command without the types of its own operands and options: what the program parses and runs. */
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

/** What both parsers make of a command line that {@link Command} accepts. */
export interface RawCall {
  readonly args: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly options: Readonly<Record<string, OptionInput>>;
  readonly io: Io;
  readonly out: Output;
}
export type OptionInput = string | boolean | readonly string[] | undefined;

/**
 * Declares a command. The types of `args` and `options` in its body follow from the declaration, which the parser
 * holds every command line against before the body is called.
 */
export function defineCommand<const A extends readonly ArgumentSpec[], const O extends OptionSpecs>(
  declaration: Declaration<A, O>,
): Command {
  const { run, ...rest } = declaration;
  return { ...rest, run: (call) => run(call as unknown as Call<A, O>) };
}

/** All options of a command: its own and the common ones; its own wins where it declares one of that name. */
export function optionsOf(command: Pick<Command, "options">): OptionSpecs {
  return { ...command.options, ...omit(COMMON_OPTIONS, command.options) };
}

function omit(specs: OptionSpecs, names: OptionSpecs): OptionSpecs {
  return Object.fromEntries(Object.entries(specs).filter(([key]) => !Object.hasOwn(names, key)));
}
