import { realPathOf } from "../../../os/files/symlinks.ts";
import { enteringAt } from "../commands/command-starts.ts";
import { MAX_DIRS } from "../commands/line-limits.ts";
import { absolute, afterDescriptor, type Directory, followed } from "../commands/path-list.ts";
import { ANYWHERE, literally, UNKNOWN } from "../commands/pattern-meetings.ts";
import type { LineParts } from "./parts.ts";

/** Maximum number of commands of a line that change the directory: the directories after each of them are compared. */
const MAX_ENTERED = 64;
/** Options of `cd` and `pushd`, but not `-`, `-2` and `--`. */
const OPTION = /^-[A-Za-z@]+$|^--$/;
/** `-`, `+1`, `~-`, `~name`: the shell knows more directories than the line shows. */
const KNOWN_TO_SHELL = /^(?:[-+]\d*|~[^/].*)$/s;

/**
 * Returns the directories that a line may be in, first the one at its start; undefined if they are too many. A directory that only
 * the shell knows is a pattern.
 */
export function directoriesOf(
  { anywhere, patterns }: { readonly anywhere: LineParts; readonly patterns: ReadonlySet<string> },
  cwd: string,
  home: string,
  resolve: (path: string) => string = realPathOf,
): readonly Directory[] | undefined {
  const found = new EnteredDirectories([{ path: cwd, isPattern: false }], home, resolve);
  const entering = anywhere.mentioned.flatMap((words) => {
    const at = enteringAt(words);
    return at === undefined ? [] : [words.slice(at)];
  });
  const isExpanded = (word: string): boolean => patterns.has(word) || anywhere.globs.has(word);
  if (entering.length > MAX_ENTERED || !found.enterAll(entering, anywhere, isExpanded)) return undefined;
  if (!anywhere.entersRepeatedly) return found.all;
  // A loop's second pass begins where the first pass ended: `cd a` leads to `a/a`.
  const again = new EnteredDirectories(found.all, home, resolve);
  if (!again.enterAll(entering, anywhere, isExpanded) || again.size > found.size) found.enterAny();
  return found.all;
}

/** Returns whether the shell looks for a word in the directories of CDPATH. */
function isSearched(word: string): boolean {
  return !/^\.{0,2}\//.test(word) && !word.startsWith("~");
}

class EnteredDirectories {
  readonly #found = new Map<string, Directory>();
  readonly #home: string;
  readonly #resolve: (path: string) => string;

  /** @param from the directories that the line may be in at the start */
  constructor(from: readonly Directory[], home: string, resolve: (path: string) => string) {
    for (const directory of from) this.#found.set(directory.path, directory);
    this.#home = home;
    this.#resolve = resolve;
  }

  get size(): number {
    return this.#found.size;
  }

  get all(): readonly Directory[] {
    return [...this.#found.values()];
  }

  /**
   * Enters the directories of commands, each from its name on. Returns false as soon as they are too many.
   * @param isExpanded whether a shell expands a word to names of files
   */
  enterAll(
    commands: readonly (readonly string[])[],
    { searchesDirectories, setsPlaces }: LineParts,
    isExpanded: (word: string) => boolean,
  ): boolean {
    for (const [i, [name = "", ...rest]] of commands.entries()) {
      const operands = rest.filter((word) => !OPTION.test(word));
      const entersHome = operands.length === 0 && !/^(?:pushd|popd)$/.test(name);
      if (entersHome) this.enterWord(setsPlaces ? UNKNOWN : "~", false);
      // zsh replaces the first of two words in the path with the second.
      if (operands.length > 1 || (searchesDirectories && operands.some(isSearched))) this.enterAny();
      // `cd -` leads back to a directory that the line was in.
      for (const to of operands) if (to !== "-" || i === 0) this.enterWord(to, isExpanded(to));
      if (this.size > MAX_DIRS) return false;
    }
    return true;
  }

  enterWord(to: string, isExpanded: boolean): void {
    if (to.includes(UNKNOWN) || KNOWN_TO_SHELL.test(to) || afterDescriptor(to) !== undefined) this.enterAny();
    else if (isExpanded) this.#enterMatches(to);
    else this.enter(to);
  }

  enter(to: string): void {
    for (const { path, isPattern } of this.all) {
      const word = isPattern ? literally(to) : to;
      const next = absolute(word, path, this.#home);
      this.#add(next, isPattern && !/^[/~]/.test(to));
      // Some shells remove `link/..` as text, others follow the link.
      const physical = isPattern ? undefined : followed(to, path, this.#home);
      if (physical !== undefined && this.#real(physical) !== this.#real(next)) this.#add(physical, false);
    }
  }

  #enterMatches(pattern: string): void {
    for (const { path, isPattern } of this.all)
      this.#add(absolute(pattern, isPattern ? path : literally(path), this.#home), true);
  }

  enterAny(): void {
    this.#add(`/${ANYWHERE}`, true);
  }

  #add(path: string, isPattern: boolean): void {
    this.#found.set(path, { path, isPattern });
  }

  #real(path: string): string {
    try {
      return this.#resolve(path);
    } catch {
      // A loop of links: both count.
      return path;
    }
  }
}
