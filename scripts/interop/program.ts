/** A key that the fake model takes, in the form of a real one. */
export const KEY = "sk-ant-api03-a-key-of-the-loopback-model";

/** Where a program runs: everything that it reads and writes is in `home`. */
export interface Home {
  readonly home: string;
  readonly repo: string;
  readonly modelUrl: string;
}

/** A real program that is checked, as data. */
export interface Program {
  /** Its name in `--only`. */
  readonly id: string;
  readonly package: string;
  /** A version, or a tag of npm. */
  readonly version: string;
  /** Its name in `teams spawn --cli`. */
  readonly cli: string;
  readonly channel: "inbox" | "app-server" | "http" | "acp" | "files" | "hooks";
  /** The oldest major version of Node.js that it runs on; the run installs it if ours is older. */
  readonly node?: number;
  /** Keys that answer a request in its own screen; `isYes` is false if that screen can only refuse. */
  readonly answerKeys?: { readonly keys: readonly string[]; readonly isYes: boolean };
  /** Keys that interrupt a turn in its own screen; by default one Escape. */
  readonly interruptKeys?: readonly string[];
  /** The command by which a person starts it; undefined without its own screen. */
  readonly plain?: readonly string[];
  /** Why rows do not apply, by their ids. */
  readonly notApplicable?: Readonly<Record<string, string>>;
  /** Why rows fail because of the program, by their ids. */
  readonly knownFailures?: Readonly<Record<string, string>>;
  /** Writes what a login and a first start would leave, and returns the variables for it. */
  prepare(home: Home): Readonly<Record<string, string>>;
  /** The parts of a first start that are missing, and how `teams` shows that. */
  readonly lacks: readonly Lack[];
}

/** One thing that `prepare` has written, and that a first start would not have. */
export interface Lack {
  /** As the words after "without". */
  readonly of: string;
  remove(home: Home): void;
  /** The names of variables that hold it too. */
  readonly variables?: readonly string[];
  /** The member waits for the person, or the start succeeds without it. */
  readonly shows: "needs-input" | "starts";
  /** A pattern that the activity of the member must match. */
  readonly named?: RegExp;
}
