import { basename } from "node:path";
import { commandsNamed } from "../commands/command-starts.ts";
import { absolute, type Directory } from "../commands/path-list.ts";
import { type ListNames, listEntries } from "./patterns.ts";

/** Maximum number of entries of copied directories, and their maximum depth: deeper entries are not seen. */
const MAX_ENTRIES = 1_000;
const MAX_DEPTH = 3;

/**
 * Returns the paths that `cp -r` and `rsync` create below the directory that they copy into, by the files that exist now.
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
  let left = MAX_ENTRIES;
  for (const { sources, target } of commands.flatMap(copies)) {
    for (const { path: dir } of dirs.filter(({ isPattern }) => !isPattern)) {
      const into = absolute(target, dir, home).replace(/(?<=.)\/$/, "");
      for (const source of sources) {
        const own = basename(source);
        const prefix = /^\.{0,2}$/.test(own) ? [] : [`${into}/${own}`];
        for (const name of entriesOf(
          absolute(source, dir, home).replace(/(?<=.)\/$/, ""),
          list,
          left,
          descends,
        )) {
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
  most: number,
  descends: (name: string) => boolean,
): readonly string[] {
  const found: string[] = [];
  let open = [""];
  for (let depth = 0; depth < MAX_DEPTH && open.length > 0; depth += 1) {
    const next: string[] = [];
    for (const path of open) {
      if (found.length + next.length >= most) break;
      for (const name of list(path === "" ? directory : `${directory}/${path}`))
        next.push(path === "" ? name : `${path}/${name}`);
    }
    found.push(...next);
    open = next.filter((path) => depth > 0 || descends(path));
  }
  return found.slice(0, Math.max(0, most));
}

interface Copy {
  readonly sources: readonly string[];
  readonly target: string;
}

/** Returns the directories that a command copies with their contents. */
function copies(words: readonly string[]): readonly Copy[] {
  return commandsNamed(words, /^(?:g?cp|rsync|ditto)$/).flatMap(([program = "", ...rest]) => {
    const isCopy = /cp$/.test(program);
    if (isCopy && !rest.some((word) => /^-[a-zA-Z]*[arR]|^--(?:arc|rec)/.test(word))) return [];
    const operands = rest.filter((word) => !word.startsWith("-"));
    const named = rest.findIndex((word) => /^(?:-[a-zA-Z]*t$|--target-directory)/.test(word));
    const given = /=(.+)$/s.exec(rest[named] ?? "")?.[1] ?? rest[named + 1];
    const target = (named < 0 ? operands.at(-1) : given) ?? "";
    return [{ sources: operands.filter((word) => word !== target), target }];
  });
}

/** Returns the files and directories that a command moves or removes as a whole. */
export function movedBy(words: readonly string[]): readonly string[] {
  return commandsNamed(words, /^(?:git|g?(?:mv|rm|rmdir))$/).flatMap(([program = "", ...args]) => {
    const isGit = basename(program) === "git";
    const name = isGit ? (args[0] ?? "") : basename(program).replace(/^g/, "");
    const rest = isGit ? args.slice(1) : args;
    const operands = rest.filter((word) => !word.startsWith("-"));
    if (name === "mv")
      return rest.some((word) => /^(?:-\w*t|--target)/.test(word)) ? operands : operands.slice(0, -1);
    const isRecursive =
      rest.some((word) => /^-\w*[rR]|^--recursive/.test(word)) && !rest.includes("--cached");
    return name === "rmdir" || (name === "rm" && isRecursive) ? operands : [];
  });
}
