import { basename } from "node:path";
import { type Options, options, readOptions } from "./options.ts";

interface Writer {
  readonly options: Options;
  /** Which operands it creates, changes or removes. */
  readonly operands: "all" | "last" | "after-script";
}

const writer = (operands: Writer["operands"], row: string): Writer => ({ operands, options: options(row) });

/** Programs whose purpose is to create, change or remove the files that they name. */
const WRITERS: ReadonlyMap<string, Writer> = new Map([
  ["tee", writer("all", "aip append ignore-interrupts")],
  ["touch", writer("all", "achm|dtr date= reference= no-create no-dereference time=")],
  ["truncate", writer("all", "co|sr size= reference= no-create io-blocks")],
  ["mkdir", writer("all", "pv|m parents verbose mode=")],
  ["rmdir", writer("all", "pv parents verbose ignore-fail-on-non-empty")],
  ["rm", writer("all", "dfiIrRv recursive force dir verbose interactive[=]")],
  ["unlink", writer("all", "-")],
  ["mkfifo", writer("all", "|m mode=")],
  ["mv", writer("all", "bfinTuv|S force no-clobber verbose update suffix= no-target-directory")],
  ["cp", writer("last", "abdfiHlLnPpRrsTuvx|S recursive archive force no-clobber verbose update suffix=")],
  ["ln", writer("last", "bdfFiLnPrsTv|S symbolic force relative verbose no-dereference suffix=")],
  ["install", writer("last", "bcCDpsTv|gmoS mode= owner= group= compare verbose strip suffix=")],
  ["sed", writer("after-script", "nErsuz|l|i|e quiet silent regexp-extended separate null-data in-place[=]")],
  ["perl", writer("after-script", "anpwlsT|Ee|i0F")],
]);

/** Programs with an option for the directory that they write to: all operands are then sources. */
const TAKES_TARGET = /^g?(?:cp|mv|ln|install)$/;
/** `-t dir`, `-rtdir`, `--target-directory=dir`, and each start of that name. */
const TARGET_OPTION = /^(?:-[a-zA-Z]*?t|--t[\w-]*(?:=|$))(.*)$/s;

/** Maximum number of such options that are read. A command with more counts as naming too many files. */
export const MAX_TARGETS = 4;

/**
 * Returns the directories that such options of a program may name. Several, because a letter may belong to the value of another
 * option: `cp -Sxt`.
 * @param words from the name of the program on
 */
export function targetDirectories([program = "", ...args]: readonly string[]): readonly string[] {
  if (!TAKES_TARGET.test(basename(program))) return [];
  return args.flatMap((word, at) => {
    const glued = TARGET_OPTION.exec(word)?.[1];
    if (glued === undefined) return [];
    return [glued === "" ? (args[at + 1] ?? "") : glued];
  });
}

/** Returns whether a command has more options for a directory than are read. */
export function hasManyTargets(words: readonly string[]): boolean {
  const at = words.findIndex((word) => TAKES_TARGET.test(basename(word)));
  return at >= 0 && targetDirectories(words.slice(at)).length > MAX_TARGETS;
}

/** Returns whether options of cp make it copy directories with their contents. */
export function copiesTrees(args: readonly string[]): boolean {
  return args.some((word) => /^-[a-zA-Z]*[arR]|^--(?:ar|rec)/.test(word));
}

/** Returns how a program creates, changes or removes the files that its words name; undefined for every other program. */
export function writerOf(word: string): Writer | "dd" | undefined {
  const name = basename(word).replace(/^g(?=sed|cp|mv|rm|ln|tee)/, "");
  return name === "dd" ? "dd" : WRITERS.get(name);
}

/**
 * Returns the paths that a common program creates, changes or removes by its words; empty for every other command. An
 * option that the table does not list makes every other word count, because it may be a path.
 */
export function writtenBy(words: readonly string[]): readonly string[] {
  const known = writerOf(words[0] ?? "");
  const args = words.slice(1);
  if (known === undefined) return [];
  if (known === "dd") return args.flatMap((word) => (word.startsWith("of=") ? [word.slice(3)] : []));
  const { operands, used, unknown } = readOptions(args, known.options);
  if (known.operands === "after-script") {
    const isInPlace = used.has("-i") || used.has("--in-place");
    return isInPlace ? operands.slice(used.has("-e") || used.has("-E") ? 0 : 1) : [];
  }
  const targets = targetDirectories(words);
  if (unknown.length > 0 || targets.length > 0)
    return [...args.filter((word) => !word.startsWith("-")), ...targets];
  if (known.operands !== "last" || operands.length < 2) return operands;
  return [...operands.slice(-1), ...copiesIn(operands.at(-1) ?? "", operands.slice(0, -1))];
}

/**
 * Returns the files that `cp` may create in the directories that its words name. Such a file may be a link that cp writes through.
 */
export function copiedBy(written: readonly string[]): readonly string[] {
  const words = written.slice(written.findIndex((word) => /^g?cp$/.test(basename(word))));
  if (!/^g?cp$/.test(basename(words[0] ?? ""))) return [];
  const names = words.slice(1).filter((word) => !word.startsWith("-"));
  const targets = targetDirectories(words).slice(0, MAX_TARGETS);
  return [...targets, names.at(-1) ?? ""].flatMap((directory) => copiesIn(directory, names));
}

function copiesIn(directory: string, from: readonly string[]): readonly string[] {
  const names = from.map((word) => basename(word)).filter((name) => !/^(?:\.{0,2}|~)$/.test(name));
  return names.map((name) => `${directory}/${name}`);
}
