import type { Flow } from "./line-flows.ts";

/** A file that a line redirects from or to. */
export interface RedirectedFile {
  readonly kind: "read" | "write";
  /** Relative to the command's working directory, absolute, or below `~/`. May contain unknown text. */
  readonly path: string;
}

/** Everything in a command line, including in loops, functions, substitutions and quoted scripts: for deny rules and guards. */
export interface LineParts {
  /** The words of each command, without quotes. */
  readonly mentioned: readonly (readonly string[])[];
  /** Where the output of each of these commands goes. */
  readonly flows: readonly Flow[];
  /** The text that these commands read from here-documents, by their index. */
  readonly inputs: ReadonlyMap<number, string>;
  /** Variables or files may pass text of one command to a later one. */
  readonly isLinked: boolean;
  /** It may redefine the names of commands. */
  readonly isRedefining: boolean;
  /** The names of its functions; undefined if it may redefine any name. */
  readonly functions: ReadonlySet<string> | undefined;
  /** The same for the names of builtins, whose meaning PATH does not change. */
  readonly builtins: ReadonlySet<string> | undefined;
  /** The grammar of bash does not describe the whole line. */
  readonly isUnread: boolean;
  readonly files: readonly RedirectedFile[];
  /** Words outside commands: values of variables, items of loops. */
  readonly loose: readonly string[];
  /** The loose words that are only values of variables. */
  readonly assigned: ReadonlySet<string>;
  /** Words that a shell may expand to file names. */
  readonly globs: ReadonlySet<string>;
  /** It may change the directory several times by one command: in a loop, a function, a trap or an alias. */
  readonly entersRepeatedly: boolean;
  /** It may change HOME, PWD or the command pwd, so that only the shell knows these directories. */
  readonly setsPlaces: boolean;
  /** It sets where the shell looks for directories: CDPATH. */
  readonly searchesDirectories: boolean;
  /** Patterns may match names that begin with a dot. */
  readonly matchesHidden: boolean;
  /** Why a program that the line runs cannot be known, as a clause. */
  readonly hidden?: string;
  /** Why the line is too complex for deny rules, as a clause. */
  readonly excess?: string;
}

/** Key in {@link LineParts.inputs} of the text that loops and groups read, instead of the index of a command. */
export const NO_COMMAND = -1;

/** The parts of a line that is not searched. */
export const NO_PARTS: LineParts = {
  ...{ mentioned: [], flows: [], files: [], inputs: new Map(), globs: new Set() },
  ...{ loose: [], assigned: new Set() },
  ...{
    isLinked: false,
    isRedefining: false,
    functions: undefined,
    builtins: undefined,
    isUnread: true,
    entersRepeatedly: true,
    setsPlaces: true,
    matchesHidden: false,
    searchesDirectories: false,
  },
};
