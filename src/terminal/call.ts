import type { Io } from "./io.ts";
import type { Output } from "./output.ts";

/** One operand of a command, in order; only the last may be `many`. */
export interface ArgumentSpec {
  /** As the usage line shows it. */
  readonly name: string;
  readonly summary: string;
  readonly optional?: boolean;
  /** Takes all remaining words: at least one unless `optional`. */
  readonly many?: boolean;
}

/** One option of a command; its key in camel case is its long name, `teammateMode` is `--teammate-mode`. */
export interface OptionSpec {
  readonly summary: string;
  /** One letter: `d` for `-d`. */
  readonly short?: string;
  /** The name of its value in the help; without it the option is a switch. */
  readonly value?: string;
  /** The value is optional: without it the option is `true`; a word after the option is its value. */
  readonly valueOptional?: boolean;
  /** Its optional value only follows `=` (`--rec=casts`): a word after the option is an operand. */
  readonly inline?: boolean;
  /** May be given more than once. */
  readonly many?: boolean;
  /** The only allowed values. */
  readonly choices?: readonly string[];
  /** Another long name, as Claude Code spells it; not in the help. */
  readonly alias?: string;
  /** A switch, by its long name, that sets the option to a value, as in Claude Code; not in the help. */
  readonly shorthand?: { readonly name: string; readonly value: string };
}

export type OptionSpecs = Readonly<Record<string, OptionSpec>>;

/** Options that every command takes. */
export const COMMON_OPTIONS = {
  team: {
    summary: "the team (default: this pane's, $TEAMS_TEAM, the named member's, this directory's)",
    value: "team",
  },
  as: { summary: "act as this member (default: $TEAMS_AGENT, else the lead)", value: "member" },
  json: { summary: "print one JSON object to stdout, and errors as JSON to stderr" },
  quiet: { summary: "print only the requested output", short: "q" },
  verbose: { summary: "print more, and the stack traces of errors" },
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

type CommonOptions = Options<typeof COMMON_OPTIONS> & {
  /** The team of the caller's tmux pane, if that could decide. */
  readonly marked?: string | undefined;
};

/** The argument of a command's body. */
export interface Call<
  A extends readonly ArgumentSpec[] = readonly ArgumentSpec[],
  O extends OptionSpecs = OptionSpecs,
> {
  readonly args: Arguments<A>;
  readonly options: Options<O> & CommonOptions;
  readonly io: Io;
  readonly out: Output;
  /** Runs another command line of this program in this process. @returns the exit status */
  readonly runProgram: (io: Io) => Promise<number>;
}

/** The parts of a call that all commands have. */
export type AnyCall = Pick<Call, "io" | "out" | "runProgram"> & { readonly options: CommonOptions };
