import type { Io } from "./io.ts";
import type { Output } from "./output.ts";

/** One operand of a command, in order; only the last may be `many`. */
export interface ArgumentSpec {
  /** As the usage line shows it. */
  readonly name: string;
  readonly summary: string;
  readonly optional?: boolean;
  /** Takes all that are left: at least one unless `optional`. */
  readonly many?: boolean;
}

/** One option of a command; its key in camel case is its long name, `teammateMode` is `--teammate-mode`. */
export interface OptionSpec {
  readonly summary: string;
  /** One letter: `d` for `-d`. */
  readonly short?: string;
  /** The word for its value in the help; without it the option is a switch. */
  readonly value?: string;
  /** May be given without its value, and is `true` then; a word behind it is its value. */
  readonly valueOptional?: boolean;
  /** May be given more than once. */
  readonly many?: boolean;
  /** The only values that it takes. */
  readonly choices?: readonly string[];
}

export type OptionSpecs = Readonly<Record<string, OptionSpec>>;

/** Options that every command takes. */
export const COMMON_OPTIONS = {
  team: { summary: "the team ($TEAMS_TEAM; may be left out where there is one)", value: "team" },
  as: { summary: "the member who acts ($TEAMS_AGENT; else the lead)", value: "member" },
  json: { summary: "one JSON object on stdout; errors as JSON on stderr" },
  quiet: { summary: "say only what was asked for", short: "q" },
  verbose: { summary: "say more, and where errors come from" },
} as const satisfies OptionSpecs;

type ArgumentValue<A extends ArgumentSpec> = A extends { readonly many: true }
  ? readonly string[]
  : A extends { readonly optional: true }
    ? string | undefined
    : string;
type Arguments<A extends readonly ArgumentSpec[]> = {
  readonly [S in A[number] as S["name"]]: ArgumentValue<S>;
};

type OptionValue<O extends OptionSpec> = O extends { readonly value: string }
  ? O extends { readonly many: true }
    ? readonly string[]
    : O extends { readonly choices: readonly (infer C)[] }
      ? C | undefined
      : O extends { readonly valueOptional: true }
        ? string | true | undefined
        : string | undefined
  : boolean;
type Options<O extends OptionSpecs> = { readonly [K in keyof O]: OptionValue<O[K]> };

export type CommonOptions = Options<typeof COMMON_OPTIONS>;

/** What a command's body is called with. */
export interface Call<
  A extends readonly ArgumentSpec[] = readonly ArgumentSpec[],
  O extends OptionSpecs = OptionSpecs,
> {
  readonly args: Arguments<A>;
  readonly options: Options<O> & CommonOptions;
  readonly io: Io;
  readonly out: Output;
}

/** A call of whatever command: what is common to all. */
export type AnyCall = Pick<Call, "io" | "out"> & { readonly options: CommonOptions };

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
  readonly ofNoTeam?: boolean;
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
  readonly ofNoTeam?: boolean;
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

/** The long name of an option: `teammateMode` → `teammate-mode`. */
export function longName(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** All options of a command: its own and the common ones; its own wins where it declares one of that name. */
export function optionsOf(command: Pick<Command, "options">): OptionSpecs {
  return { ...command.options, ...omit(COMMON_OPTIONS, command.options) };
}

function omit(specs: OptionSpecs, names: OptionSpecs): OptionSpecs {
  return Object.fromEntries(Object.entries(specs).filter(([key]) => !Object.hasOwn(names, key)));
}
