import { gitOptions, signatureWords } from "./git-readers.ts";
import { isHarmlessCode } from "./harmless-code.ts";
import { type AskingWord, type Options, options, type ReadOptions, readOptions } from "./options.ts";
import { optionsOfReader } from "./readers.ts";
import { baseName } from "./runners.ts";
import { filesOfXxd, harmfulCode, mixedInTree } from "./special-readers.ts";
import { BUILD_TABLES } from "./tables/build-tables.ts";
import { FILE_TABLES } from "./tables/file-tables.ts";
import { riskyInFind } from "./tables/find-words.ts";
import { GIT } from "./tables/git-tables.ts";
import { LOADS } from "./tables/loading-options.ts";
import { NET_TABLES } from "./tables/net-tables.ts";
import { PACKAGE_TABLES } from "./tables/package-tables.ts";
import type { Table } from "./tables/table.ts";
import { TEXT_TABLES } from "./tables/text-tables.ts";
import { TOOL_TABLES } from "./tables/tool-tables.ts";
import { assigningWords } from "./tables/variables.ts";

const TABLES: ReadonlyMap<string, Table> = new Map([
  ...[FILE_TABLES, TEXT_TABLES, NET_TABLES, BUILD_TABLES, PACKAGE_TABLES, TOOL_TABLES].flatMap((tables) =>
    Object.entries(tables),
  ),
  ["git", GIT],
]);

/** Other names of programs in the tables. */
const SAME_AS: readonly (readonly [name: RegExp, table: string])[] = [
  [/^[gmn]awk$/, "awk"],
  [/^g(?=(?:sed|tar|cp|mv|ln|install|make)$)/, ""],
  [/^bsdtar$/, "tar"],
  [/^(?:n?vim?|view|ex|vimdiff)$/, "vim"],
  [/^(?:[\w-]+-)?(?:gcc|g\+\+|cc|c\+\+|clang|clang\+\+)(?:-[\d.]+)?$/, "gcc"],
  [/^batcat$/, "bat"],
  [/^nodejs$/, "node"],
  [/^python[\d.]*$/, "python"],
  [/^pip[\d.]*$/, "pip"],
  [/^py\.test$/, "pytest"],
  [/^pnpx$/, "npx"],
  [/^yarnpkg$/, "yarn"],
  [/^(?:podman|nerdctl)$/, "docker"],
  [/^podman-compose$/, "docker-compose"],
];

function tableName(name: string): string {
  if (TABLES.has(name)) return name;
  const same = SAME_AS.find(([known]) => known.test(name));
  return same === undefined ? name : same[1] === "" ? name.slice(1) : same[1];
}

/**
 * Returns the words of a command that an allow rule must name itself, because they may run a program or write a file that the
 * rule's author did not think of: each option that no table lists as harmless, harmful code, and some operands. Empty for programs
 * without a table.
 * @param named number of words that the rule names
 */
export function riskyWords(written: readonly string[], named = 1): readonly AskingWord[] {
  return [...plain(joinedWords(written, named)), ...ownRiskyWords(written, named)];
}

/** Programs that join their words to a line of a shell, on this or another machine, with their own options. */
const JOINS: ReadonlyMap<string, string> = new Map([
  ["ssh", NET_TABLES.ssh?.options ?? ""],
  ["watch", "bcdegprtvwx|nq interval= differences[=] color no-title"],
  ["parallel", "kvX|jnNI jobs="],
  ["eval", "-"],
]);

/** Returns words that end the command which a rule names to such a program: `watch git status ';id'`. */
function joinedWords(written: readonly string[], named: number): readonly string[] {
  const program = baseName(written[0] ?? "");
  const row = JOINS.get(program);
  if (row === undefined) return [];
  const { operands } = readOptions(written.slice(1, named), options(row));
  // The first operand of ssh is a host.
  const namesCommand = operands.length > (program === "ssh" ? 1 : 0);
  return namesCommand ? written.slice(named).filter((word) => /[;&|`$<>()\n]/.test(word)) : [];
}

function ownRiskyWords(written: readonly string[], named: number): readonly AskingWord[] {
  const words = withoutWrapper(written, named);
  const [program = "", ...args] = words;
  const name = INSTALLED.test(program) ? baseName(program) : program;
  const known = tableName(name);
  const table = TABLES.get(known);
  if (table !== undefined) {
    const isWhole = table.runsCode === true && named - (written.length - words.length) <= 1;
    // `npx eslint`: the words after the program that npx runs are options of that program.
    const loaded = known === "npx" ? plain(written.slice(named).filter((word) => LOADS.test(word))) : [];
    return isWhole ? [] : [...loaded, ...askingWords(known, args, table)];
  }
  if (name === "find") return plain(riskyInFind(args));
  if (name === "date")
    return plain(args.filter((word) => /^(?:-[a-zA-Z]*[sf]|--(?:set|file)|\d)/.test(word)));
  if (name === "xargs") return plain(args.filter((word) => word.startsWith("--process-slot-var")));
  const ofReader = optionsOfReader(name);
  if (ofReader === undefined) return plain(args.filter((word) => LOADS.test(word)));
  const { asking, operands } = readOptions(args, ofReader);
  if (name === "tree") return [...asking, ...plain(mixedInTree(args))];
  // Their second operand is a file that they write.
  if (name === "xxd") return [...asking, ...plain(filesOfXxd(args).slice(1))];
  return name === "uniq" ? [...asking, ...plain(operands.slice(1))] : asking;
}

/** A program in a directory of programs. A script of the project may have the name of another program. */
const INSTALLED = /^(?:~?\/(?:.*\/)?s?bin|(?:.*\/)?node_modules\/\.bin)\/[^/]+$/;

const plain = (words: readonly string[]): AskingWord[] => words.map((word) => ({ word, option: word }));
const parsed = new Map<string, Options>();
function optionsOf({ options: row }: Table): Options {
  const known = parsed.get(row) ?? options(row);
  parsed.set(row, known);
  return known;
}

function askingWords(name: string, written: readonly string[], table: Table): readonly AskingWord[] {
  if (/^--(?:version|help)$/.test(written.join(" "))) return [];
  const args = ownWords(name, written);
  const read = table.oneDash ? readOneDash(args, table) : readOptions(args, optionsOf(table), table);
  const { operands } = read;
  const [first = ""] = operands;
  const found = [
    ...asking(read, table),
    ...plain(operands.filter((word, at) => isAskingOperand(word, at, table))),
  ];
  const isSub = table.subcommands !== undefined && operands.length > 0;
  if (isSub) found.push(...askingInSubcommand(first, args.slice(args.indexOf(first) + 1), table));
  if (table === GIT) found.push(...signatureWords(args).map((word) => ({ word })));
  const end = args.indexOf("--");
  const rest = table.rest?.[first];
  if (rest !== undefined && end >= 0)
    found.push(...plain(args.slice(end + 1).filter((word) => !rest.test(word))));
  if (name === "awk" || name === "sed") found.push(...plain(harmfulScripts(name, args, read)));
  if (name === "python") found.push(...askingInModule(written, read));
  if (name === "printf") found.push(...plain(assigningWords(written)));
  return name === "tar" ? found.map((one) => asWritten(one, written)) : found;
}

function isAskingOperand(word: string, at: number, table: Table): boolean {
  if (at === 0 && (table.first?.test(word) === false || table.notFirst?.test(word) === true)) return true;
  if (at === 1 && table.second?.test(word) === false) return true;
  const isOther = table.others?.test(word) === false || table.never?.test(word) === true;
  return isOther || table.isHarmless?.(word, at) === false;
}

/** Returns the options that ask: unlisted ones, and those whose value is not harmless. */
function asking(read: ReadOptions, { only = {} }: Table): readonly AskingWord[] {
  const judged = read.values.filter(({ option }) => Object.hasOwn(only, option));
  const isHarmless = ({ option, value }: (typeof judged)[number]): boolean =>
    only[option]?.test(value) === true;
  const accepted = new Set(judged.filter(isHarmless).map(({ word }) => word));
  const refused = judged.filter((one) => !isHarmless(one));
  return [
    ...read.asking.filter(({ word }) => !accepted.has(word)),
    ...refused.map(({ word, option }) => ({ word, option })),
  ];
}

function askingInSubcommand(
  name: string,
  args: readonly string[],
  { subcommands = {} }: Table,
): readonly AskingWord[] {
  const found = Object.hasOwn(subcommands, name) ? subcommands[name] : undefined;
  if (found !== undefined) {
    const table = typeof found === "string" ? { options: found, negates: true } : found;
    return askingWords(name, args, table);
  }
  const known = subcommands === GIT.subcommands ? gitOptions(name) : undefined;
  if (known !== undefined) return readOptions(args, known).asking;
  return plain([name, ...args.filter((word) => word.startsWith("-"))]);
}

/** Reads the words of a program whose long options have one dash, as Go's and gcc's. */
function readOneDash(args: readonly string[], table: Table): ReadOptions {
  const { long } = optionsOf(table);
  const operands: string[] = [];
  const asking: AskingWord[] = [];
  const values: ReadOptions["values"][number][] = [];
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at] ?? "";
    const { name, value } = ONE_DASH.exec(word)?.groups ?? {};
    // Later words belong to the tests, or to the program that `go run` builds.
    if (name === "args" || operands.length === table.operandsOf?.[operands[0] ?? ""]) break;
    if (!word.startsWith("-") || word === "-") operands.push(word);
    else if (long.has(`${name}=`)) {
      if (value === undefined) at += 1;
      values.push({ option: `-${name}`, value: value ?? args[at] ?? "", word, at });
    } else if (!table.words?.test(word) && !long.has(name ?? "") && !long.has(`${name}[=]`))
      asking.push({ word, option: `-${name}` });
  }
  return { operands, asking, values, used: new Set(), unknown: [], late: [], isKnown: asking.length === 0 };
}

const ONE_DASH = /^--?(?<name>[A-Za-z][\w-]*)(?:=(?<value>.*))?$/s;

/** Returns the words that belong to the program itself, in the form of its table. */
function ownWords(name: string, written: readonly string[]): readonly string[] {
  if (name === "tar") return withDashes(written);
  if (name !== "python") return written;
  const at = written.findIndex((word) => CODE_OR_MODULE.test(word));
  return at < 0 ? written : written.slice(0, at + (/[cm]$/.test(written[at] ?? "") ? 2 : 1));
}

/** The words after the code or the module are not options of Python. */
const CODE_OR_MODULE = /^-[bBdEiIOPqRsSuv]*[cm]/;

/** Returns the words of tar with a dash before each letter of its first word: `xzf a.tgz` is `-x -z -f a.tgz`. */
function withDashes([letters = "", ...words]: readonly string[]): readonly string[] {
  if (letters === "" || letters.startsWith("-")) return letters === "" ? [] : [letters, ...words];
  const { values, asks } = optionsOf(TABLES.get("tar") ?? { options: "" });
  let at = 0;
  const found = [...letters].flatMap((letter) => {
    if (!values.includes(letter) && !asks.includes(letter)) return [`-${letter}`];
    at += 1;
    return [`-${letter}${words[at - 1] ?? ""}`];
  });
  return [...found, ...words.slice(at)];
}

/** An option of tar's first word is named by the whole word. */
function asWritten(one: AskingWord, written: readonly string[]): AskingWord {
  const [letters = ""] = written;
  return written.includes(one.word) || letters.startsWith("-") ? one : { word: letters };
}

/** Returns the scripts of awk or sed that may run a program or write a file, as this reader and as another one find them. */
function harmfulScripts(name: "awk" | "sed", args: readonly string[], read: ReadOptions): readonly string[] {
  const given = read.values.filter(({ option }) => /^(?:-e|--(?:expression|source))$/.test(option));
  const [first = ""] = read.operands;
  // The awk of macOS ignores `-e`, and its sed reads no option after an operand: the script is the first operand.
  const isGiven = given.some(({ at }) => name === "sed" && at < args.indexOf(first));
  const others = isGiven || read.used.has("-f") ? [] : [first];
  const scripts = [...given.map(({ value }) => value), ...others];
  const harmful = scripts.filter((script) => !isHarmlessCode(name, script));
  return [...new Set([...harmful, ...harmfulCode([name, ...args])])];
}

/** `python3 -m pytest` is pytest. */
function askingInModule(args: readonly string[], { values }: ReadOptions): readonly AskingWord[] {
  const module = values.find(({ option }) => option === "-m")?.value;
  if (module === undefined || !/^(?:pytest|pip|json\.tool)$/.test(module)) return [];
  return riskyWords([module, ...args.slice(args.indexOf(module) + 1)], 2);
}

/**
 * Returns the values of a command's options, by index in its words; empty if the tables do not list each option, because then only
 * the program knows which words are values.
 */
export function optionValues(words: readonly string[]): ReadOptions["values"] {
  const [program = "", ...args] = words;
  const name = tableName(program);
  const table = TABLES.get(name);
  if (table === GIT) return valuesInGit(args, table);
  const known = table === undefined || table.oneDash ? optionsOfReader(name) : optionsOf(table);
  if (known === undefined) return [];
  const own = ownWords(name, args);
  // tar: `czf a.tgz` becomes several words at the start, so later indexes move. Python: its own words come first.
  return withOffset(readOptions(own, known, table), name === "tar" ? words.length - own.length : 1);
}

function valuesInGit(args: readonly string[], table: Table): ReadOptions["values"] {
  const { operands, isKnown } = readOptions(args, optionsOf(table), table);
  const [name = ""] = operands;
  const subcommand = table.subcommands?.[name];
  const row = typeof subcommand === "string" ? { options: subcommand } : subcommand;
  const known = row === undefined ? gitOptions(name) : optionsOf(row);
  if (known === undefined || !isKnown) return [];
  const from = args.indexOf(name) + 1;
  return withOffset(readOptions(args.slice(from), known, { ...row, negates: true }), from + 1);
}

/** Returns the values of options with their indexes counted from the start of the command; empty if they are not known. */
function withOffset({ values, isKnown }: ReadOptions, from: number): ReadOptions["values"] {
  return isKnown ? values.map((one) => ({ ...one, at: one.at + from })) : [];
}

/** Programs that run the words after their own options. A rule for such a program alone covers every program. */
const WRAPS =
  /^(?:sudo|doas|env|command|exec|nohup|nice|ionice|chrt|time|timeout|stdbuf|setsid|flock|xargs|watch|strace|unshare)$/;

/** Programs that run a program after one of these words: `uv run pytest`. `npm run x` runs a script of the project instead. */
const RUNS =
  /^(?:(?:uv|poetry|pipenv|pdm|hatch|rye|conda|mamba) run|bundle exec|(?:npm|pnpm|yarn) (?:exec|dlx|x)|(?:npx|bunx|pnpx)|mise (?:exec|x)|direnv exec) /;

/** Returns the command that a wrapper runs, if the rule names its program. */
export function withoutWrapper(words: readonly string[], named: number): readonly string[] {
  const [program = "", second = ""] = words;
  if (!WRAPS.test(baseName(program)) && !RUNS.test(`${program} ${second} `)) return words;
  const at = words.findIndex((word, i) => i > 0 && i < named && isKnown(baseName(word)));
  return at < 0 ? words : words.slice(at);
}

function isKnown(name: string): boolean {
  return TABLES.has(tableName(name)) || name === "find" || optionsOfReader(name) !== undefined;
}

/** Returns whether the words of a rule name a risky word: the same word, or its option before any value. */
export function namesWord(named: readonly string[], { word, option }: AskingWord): boolean {
  return named.includes(word) || (option !== undefined && named.includes(option));
}
