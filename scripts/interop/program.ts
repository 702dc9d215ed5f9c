/** A key that the fake model accepts, in the form of a real one. */
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
  /** The command with which a person starts it; undefined if it has no screen. */
  readonly plain?: readonly string[];
  /** The reasons why rows do not apply, by the ids of the rows. */
  readonly notApplicable?: Readonly<Record<string, string>>;
  /** The reasons why rows fail because of the program, by the ids of the rows. */
  readonly knownFailures?: Readonly<Record<string, string>>;
  /** Writes what a login and a first start would leave, and returns the variables for it. */
  prepare(home: Home): Readonly<Record<string, string>>;
  /** The parts of a first start that are missing, and how `teams` shows that. */
  readonly lacks: readonly Lack[];
}

/** Something that `prepare` wrote, and that is missing at a first start. */
export interface Lack {
  /** The words after "without". */
  readonly of: string;
  remove(home: Home): void;
  /** The names of variables that also provide it. */
  readonly variables?: readonly string[];
  /** The member waits for a person, or the start succeeds without it. */
  readonly shows: "needs-input" | "starts";
  /** A pattern that the activity of the member must match. */
  readonly named?: RegExp;
}
