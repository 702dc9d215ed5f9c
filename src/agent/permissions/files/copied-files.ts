import { basename } from "node:path";
import { commandsNamed } from "../commands/command-starts.ts";
import { absolute, type Directory } from "../commands/path-list.ts";
import { copiesTrees, MAX_TARGETS, targetDirectories } from "../commands/writers.ts";
import { type ListNames, listEntries } from "./patterns.ts";

/** Maximum number of entries of copied directories, and their maximum depth: deeper entries are not seen. */
const MAX_ENTRIES = 1_000;
const MAX_DEPTH = 3;

/**
 * Returns the paths that `cp -r`, `mv` and `rsync` create below the directory that they write to, judged by the files that exist
 * now.
 * @param descends whether the contents of an entry of the copied directory count too
 */
export function copiedFiles(
  commands: readonly (readonly string[])[],
  dirs: readonly Directory[],
  home: string,
  list: ListNames = listEntries,
  descends: (name: string) => boolean = () => true,
): readonly string[] {
  const found = new Set<string>();
  const listed = new Map<string, readonly string[]>();
  const listOnce = (directory: string): readonly string[] => {
    const names = listed.get(directory) ?? list(directory);
    listed.set(directory, names);
    return names;
  };
  const placeIn = (dir: string, word: string): string => absolute(word, dir, home).replace(/(?<=.)\/$/, "");
  const known = dirs.flatMap(({ path, isPattern }) => (isPattern ? [] : [path]));
  let left = MAX_ENTRIES;
  for (const { sources, target } of commands.flatMap(copies)) {
    for (const dir of known) {
      const into = placeIn(dir, target);
      for (const source of sources) {
        const own = basename(source);
        const prefix = /^\.{0,2}$/.test(own) ? [] : [`${into}/${own}`];
        for (const name of entriesOf(placeIn(dir, source), listOnce, left, descends)) {
          left -= 1;
          for (const base of [into, ...prefix]) found.add(`${base}/${name}`);
        }
      }
    }
  }
  return [...found];
}

/** Returns the paths of entries below a directory, the nearest first. */
function entriesOf(
  directory: string,
  list: ListNames,
  limit: number,
  descends: (name: string) => boolean,
): readonly string[] {
  const found: string[] = [];
  let open = [""];
  for (let depth = 0; depth < MAX_DEPTH && open.length > 0; depth += 1) {
    const next: string[] = [];
    for (const path of open) {
      if (found.length + next.length >= limit) break;
      for (const name of list(path === "" ? directory : `${directory}/${path}`))
        next.push(path === "" ? name : `${path}/${name}`);
    }
    found.push(...next);
    open = next.filter((path) => depth > 0 || descends(path));
  }
  return found.slice(0, Math.max(0, limit));
}

interface Copy {
  readonly sources: readonly string[];
  readonly target: string;
}

/** Returns the directories that a command copies or moves with their contents, and the targets. */
function copies(words: readonly string[]): readonly Copy[] {
  return commandsNamed(words, /^(?:g?(?:cp|mv)|rsync|ditto)$/).flatMap((own) => {
    const [program = "", ...rest] = own;
    if (/cp$/.test(program) && !copiesTrees(rest)) return [];
    const operands = [...new Set(rest.filter((word) => !word.startsWith("-")))];
    const targets = [...targetDirectories(own).slice(0, MAX_TARGETS), operands.at(-1) ?? ""];
    return targets.map((target) => ({ sources: operands.filter((word) => word !== target), target }));
  });
}

/** Returns the files and directories that a command moves or removes as a whole, or where `rsync --delete` removes files. */
export function movedBy(words: readonly string[]): readonly string[] {
  return commandsNamed(words, /^(?:git|rsync|g?(?:mv|rm|rmdir))$/).flatMap(([program = "", ...args]) => {
    const isGit = basename(program) === "git";
    const name = isGit ? (args[0] ?? "") : basename(program).replace(/^g/, "");
    const rest = isGit ? args.slice(1) : args;
    const operands = rest.filter((word) => !word.startsWith("-"));
    if (name === "rsync") return rest.some((word) => /^--del/.test(word)) ? operands.slice(-1) : [];
    if (name === "mv") {
      const isNamed = targetDirectories([program, ...rest]).length > 0;
      return isNamed ? operands : operands.slice(0, -1);
    }
    const isRecursive = rest.some((word) => /^-\w*[rR]|^--r/.test(word)) && !rest.includes("--cached");
    return name === "rmdir" || (name === "rm" && isRecursive) ? operands : [];
  });
}
