import { basename, dirname } from "node:path";
import { APPENDS_INPUT, commandsNamed } from "./command-starts.ts";
import { readingOf } from "./readers.ts";
import { copiesTrees, MAX_TARGETS, targetDirectories } from "./writers.ts";

/** The words of each command that may create links, from its name on. */
function linkers(words: readonly string[]): readonly (readonly string[])[] {
  return commandsNamed(words, /^g?(?:ln|link|cp)$/).filter(
    ([name = "", ...rest]) => !/cp$/.test(name) || rest.some((word) => COPIES_AS_LINK.test(word)),
  );
}

/** `cp -s`, `cp -as`, `cp --symbolic-link`. */
const COPIES_AS_LINK = /^-[a-zA-Z]*s|^--sy/;

const operandsOf = (words: readonly string[]): readonly string[] =>
  words
    .slice(1)
    .flatMap((word) => (word.startsWith("-") ? (/^--\w[\w-]*=(.+)$/s.exec(word)?.[1] ?? []) : word));

/**
 * Returns the names of links that commands may create. The target of each link is known, but not where a path through several
 * links leads: `ln -s . a; ln -s a/sub b; cat b/x`.
 */
export function linksIn(commands: readonly (readonly string[])[]): ReadonlySet<string> {
  const names = commands
    .flatMap(linkers)
    .flatMap(operandsOf)
    .map((word) => basename(word));
  return new Set(names.filter((name) => !/^\.{0,2}$/.test(name)));
}

/** Returns the targets of the links that a command creates: a relative target starts in the directory of the link. */
export function linkTargets(words: readonly string[]): readonly string[] {
  return linkers(words).flatMap((own) => {
    const operands = operandsOf(own);
    const link = operands.at(-1) ?? "";
    const directories = targetDirectories(own).slice(0, MAX_TARGETS);
    const end = directories.length > 0 ? operands.length : Math.max(1, operands.length - 1);
    const places = [dirname(link), link, ...directories];
    return operands
      .slice(0, end)
      .flatMap((target) =>
        /^[/~]/.test(target) ? [target] : places.map((directory) => `${directory}/${target}`),
      );
  });
}

/** Programs that unpack, copy or update trees of files, which may contain links of any name. */
const MAKES_LINKS =
  /^(?:rsync|rclone|(?:g|bsd|s)?tar|unzip|unar|unrar|7z[arz]?|(?:bsd)?cpio|pax|ditto|stow|unsquashfs|dpkg(?:-deb)?|patch|hg|svn|jj|p?rename|file-rename|mmv|zmv)$/;
/** Programs that do so with one of these subcommands. */
const UPDATES_TREE: readonly (readonly [program: RegExp, word: RegExp])[] = [
  [/^(?:docker|podman|kubectl|oc)$/, /^cp$/],
  [/^(?:gh|glab|hub)$/, /^(?:clone|checkout|co|sync|download)$/],
  [/^wget$/, /^ftps?:/i],
  [/^lftp$/, /\bmirror\b/],
];
/** `tar czf`, `7z a`. */
const ONLY_PACKS =
  /^(?:(?:g|bsd)?tar -?[a-zA-Z]*c|tar --create|7z[ar]? [alt]$|(?:hg|svn|jj) (?!up|co|checkout|merge|new|edit|rebase|patch))/;
const MOVES_OR_MAKES_LINKS = new RegExp(
  `${MAKES_LINKS.source}|^(?:git|docker|podman|kubectl|oc|gh|glab|hub|wget|lftp|g?(?:cp|ln|link|mv))$`,
);
const GIT_MAKES_LINKS =
  /^(?:am|apply|bisect|checkout|checkout-index|cherry-pick|clone|merge|mv|pull|read-tree|rebase|reset|restore|revert|sparse-checkout|stash|submodule|switch|worktree)$/;

/** Returns the names of links that a command may create; `any` if its words do not name them; undefined if it creates none. */
export function linksMadeBy(words: readonly string[]): readonly string[] | "any" | undefined {
  if (readingOf(words) !== undefined) return undefined;
  const isFed = APPENDS_INPUT.test(words[0] ?? "");
  const found = commandsNamed(words, MOVES_OR_MAKES_LINKS).map((own) => linksOf(own, isFed));
  if (found.includes("any")) return "any";
  const names = found.flatMap((one) => (one === "any" ? [] : one));
  return names.length === 0 ? undefined : names;
}

/** Programs that write only files whose names the guards see: git checks out no file into its own directory. */
const WRITES_KNOWN = /^(?:git|g?(?:cp|mv|ln|link))$/;
/** Programs that write only such files, unless a word names another machine. */
const COPIES_HERE = /^(?:rsync|ditto)$/;

/** Returns whether a command may unpack or download files of any name, including git's configuration. */
export function mayUnpack(words: readonly string[]): boolean {
  if (linksMadeBy(words) !== "any" || commandsNamed(words, WRITES_KNOWN).length > 0) return false;
  if (commandsNamed(words, COPIES_HERE).length > 0) return words.some((word) => word.includes(":"));
  return commandsNamed(words, /^(?:gh|glab|hub)$/).length === 0 || words.includes("download");
}

/** Returns whether a git command only creates a branch: `git checkout -b x` changes no file. */
function isNewBranch([first = "", option = "", ...rest]: readonly string[]): boolean {
  return rest.length === 1 && /^(?:checkout -b|switch -c)$/.test(`${first} ${option}`);
}

/**
 * Like {@link linksMadeBy}, for the words of a command from its name on; empty if it creates no link.
 * @param isFed whether it gets more words from its input
 */
function linksOf([program = "", ...rest]: readonly string[], isFed: boolean): readonly string[] | "any" {
  const name = basename(program);
  const subcommand = UPDATES_TREE.find(([known]) => known.test(name))?.[1];
  if (subcommand !== undefined) return rest.some((word) => subcommand.test(word)) ? "any" : [];
  if (name === "git")
    return rest.some((word) => GIT_MAKES_LINKS.test(word)) && !isNewBranch(rest) ? "any" : [];
  if (MAKES_LINKS.test(name)) return ONLY_PACKS.test(`${name} ${rest[0] ?? ""}`) ? [] : "any";
  const isCopy = /^g?cp$/.test(name);
  if (isCopy && copiesTrees(rest)) return "any";
  if (isCopy && !rest.some((word) => /^-[a-zA-Z]*[dPsl]|^--/.test(word))) return [];
  const operands = operandsOf(["", ...rest]);
  // A pattern may match a link of any name.
  return isFed || operands.some((word) => /[*?[]/.test(word))
    ? "any"
    : operands.map((word) => basename(word));
}
