import type { CompletedCommand, CompletedOption, CompletionTable, LiveKind, ValueSource } from "./table.ts";

/** The completions at the cursor. */
export interface Wanted {
  /** Fixed words, each with its explanation. */
  readonly words: readonly Candidate[];
  /** Names to read from the teams' files. */
  readonly live?: LiveKind;
  /** With {@link live}: used if no name matches. */
  readonly path?: "file" | "directory";
  /** Precedes each candidate and path: `--owner=`. */
  readonly prefix: string;
  /** The team that the line names. */
  readonly team?: string;
  /** Candidates that begin with a dash are names, not options: `--` came before. */
  readonly isAfterDashes: boolean;
}

export interface Candidate {
  readonly word: string;
  readonly about: string;
}

/** Options that the program itself has. */
const PROGRAM_OPTIONS: readonly Candidate[] = [
  { word: "--help", about: "print help" },
  { word: "--version", about: "print the version" },
];

/**
 * Finds the completions at the cursor.
 * @param words the words after `teams` and before the cursor's word
 * @param last the cursor's word, up to the cursor
 */
export function wantedAt(table: CompletionTable, words: readonly string[], last: string): Wanted {
  const found = commandOf(table, words);
  if (found === undefined) return { ...NOTHING, words: commandWords(table, words, last) };
  const { command, rest } = found;
  const line = readLine(command, rest);
  const base = { ...NOTHING, ...(line.team !== undefined && { team: line.team }) };
  if (line.isAfterDashes) return { ...base, ...operandAt(command, line.operands), isAfterDashes: true };
  if (line.open !== undefined) return { ...base, ...sourced(line.open.value) };
  const [, name, prefix] = /^--([\w-]+)(=)/.exec(last) ?? [];
  if (name !== undefined && prefix !== undefined)
    return { ...base, ...sourced(optionOf(command, `--${name}`)?.option.value), prefix: `--${name}=` };
  if (last.startsWith("-")) return { ...base, words: optionWords(command, line.given) };
  const operand = operandAt(command, line.operands);
  const isNothing = operand.words === undefined && operand.live === undefined && operand.path === undefined;
  return { ...base, ...(isNothing ? { words: optionWords(command, line.given) } : operand) };
}

const NOTHING: Wanted = { words: [], prefix: "", isAfterDashes: false };

/** @returns the command and the words after its name; undefined before the name is complete */
function commandOf(
  table: CompletionTable,
  words: readonly string[],
): { readonly command: CompletedCommand; readonly rest: readonly string[] } | undefined {
  const own = words[0] === "help" ? words.slice(1) : words;
  const [first = "", second = ""] = own;
  for (const name of [`${first} ${second}`, first]) {
    const command = Object.hasOwn(table, name) ? table[name] : undefined;
    if (command !== undefined) return { command, rest: own.slice(name.split(" ").length) };
  }
  return undefined;
}

/** Returns the first words of commands, or the second words after a first word that needs one. */
function commandWords(table: CompletionTable, words: readonly string[], last: string): Candidate[] {
  const own = words[0] === "help" ? words.slice(1) : words;
  const entries = Object.entries(table);
  if (own.length === 1) {
    return entries.flatMap(([name, { about }]) =>
      name.startsWith(`${own[0]} `) ? [{ word: name.slice(name.indexOf(" ") + 1), about }] : [],
    );
  }
  if (own.length > 1) return [];
  if (last.startsWith("-")) return [...PROGRAM_OPTIONS];
  const single = entries.flatMap(([name, { about }]) => (name.includes(" ") ? [] : [{ word: name, about }]));
  const families = [
    ...new Set(entries.flatMap(([name]) => (name.includes(" ") ? [name.split(" ")[0] ?? ""] : []))),
  ];
  return [...single, ...families.map((word) => ({ word, about: `commands of teams ${word}` }))];
}

interface ReadLine {
  /** The number of operands before the cursor. */
  readonly operands: number;
  /** Long names of the options before the cursor. */
  readonly given: ReadonlySet<string>;
  /** The option whose value the cursor's word is. */
  readonly open?: CompletedOption;
  readonly team?: string;
  readonly isAfterDashes: boolean;
}

function readLine(command: CompletedCommand, words: readonly string[]): ReadLine {
  const dashes = words.findIndex(
    (word, at) => word === "--" && openedBy(command, words[at - 1]) === undefined,
  );
  const isAfterDashes = dashes >= 0;
  const given = new Set<string>();
  let operands = isAfterDashes ? words.length - dashes - 1 : 0;
  let open: FoundOption | undefined;
  let team: string | undefined;
  for (const word of isAfterDashes ? words.slice(0, dashes) : words) {
    if (open !== undefined) {
      if (open.name === "team") team = word;
      open = undefined;
      continue;
    }
    if (!word.startsWith("-") || word === "-") {
      operands += 1;
      continue;
    }
    const [flag = "", value] = word.split(/=(.*)/s);
    const found = optionOf(command, flag);
    if (found !== undefined) given.add(found.name);
    if (value === undefined) open = openedBy(command, word);
    else if (found?.name === "team") team = value;
  }
  return {
    operands,
    given,
    isAfterDashes,
    ...(open !== undefined && { open: open.option }),
    ...(team !== undefined && { team }),
  };
}

interface FoundOption {
  readonly name: string;
  readonly option: CompletedOption;
}

/** Returns the option whose value is the next word. */
function openedBy(command: CompletedCommand, word: string | undefined): FoundOption | undefined {
  const found = word === undefined ? undefined : optionOf(command, word);
  return found?.option.value === undefined || found.option.inline ? undefined : found;
}

function optionOf({ options }: CompletedCommand, flag: string): FoundOption | undefined {
  const found = Object.entries(options).find(
    ([name, { short }]) => flag === `--${name}` || (short !== undefined && flag === `-${short}`),
  );
  return found && { name: found[0], option: found[1] };
}

function operandAt({ args }: CompletedCommand, count: number): Partial<Wanted> {
  const last = args.at(-1);
  return sourced((args[count] ?? (last?.many ? last : undefined))?.value);
}

function sourced(source: ValueSource | "text" | undefined): Partial<Wanted> {
  if (source === undefined || source === "text") return {};
  if ("words" in source) return { words: source.words.map((word) => ({ word, about: "" })) };
  return source;
}

/** Returns the options that may still be given. */
function optionWords({ options }: CompletedCommand, given: ReadonlySet<string>): Candidate[] {
  const all: CompletedCommand["options"] = { ...options, help: { about: "print this help" } };
  return Object.entries(all).flatMap(([name, { about, many }]) =>
    given.has(name) && !many ? [] : [{ word: `--${name}`, about }],
  );
}
