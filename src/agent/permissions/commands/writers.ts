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

/** `-t dir`, `--target-directory=dir`: the operands are all sources, and the directory is a separate word. */
const TARGET_OPTION = /^(?:-\w*t|--target-directory)/;

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
  const glued = args.flatMap((word) => /^(?:-t|--target-directory=)(.+)$/.exec(word)?.[1] ?? []);
  if (unknown.length > 0 || args.some((word) => TARGET_OPTION.test(word)))
    return [...args.filter((word) => !word.startsWith("-")), ...glued];
  if (known.operands !== "last" || operands.length < 2) return operands;
  return [...operands.slice(-1), ...copiesIn(operands.at(-1) ?? "", operands.slice(0, -1))];
}

/**
 * Returns the files that `cp` may create in the directories that its words name. One of them may be a link, through which it writes.
 */
export function copiedBy(written: readonly string[]): readonly string[] {
  const words = written.slice(written.findIndex((word) => /^g?cp$/.test(basename(word))));
  if (!/^g?cp$/.test(basename(words[0] ?? ""))) return [];
  const names = words.slice(1).filter((word) => !word.startsWith("-"));
  const target = words.findIndex((word) => TARGET_OPTION.test(word));
  const glued = /^(?:-\w*t|--\w[\w-]*=)(.+)$/s.exec(words[target] ?? "")?.[1];
  const directory = target < 0 ? names.at(-1) : (glued ?? words[target + 1]);
  return copiesIn(directory ?? "", names);
}

function copiesIn(directory: string, from: readonly string[]): readonly string[] {
  const names = from.map((word) => basename(word)).filter((name) => !/^(?:\.{0,2}|~)$/.test(name));
  return names.map((name) => `${directory}/${name}`);
}
