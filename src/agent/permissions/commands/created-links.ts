import { basename, dirname } from "node:path";
import { commandStarts } from "../simple-command.ts";

/** The words of each command that may create links, from its name on. */
function linkers(words: readonly string[]): readonly (readonly string[])[] {
  return [...commandStarts(words)].flatMap((at) => {
    const name = basename(words[at] ?? "");
    const isLinker =
      /^g?(?:ln|link)$/.test(name) ||
      (/^g?cp$/.test(name) && words.some((word) => COPIES_AS_LINK.test(word)));
    return isLinker ? [words.slice(at)] : [];
  });
}

/** `cp -s`, `cp -as`, `cp --symbolic-link`. */
const COPIES_AS_LINK = /^-[a-zA-Z]*s|^--sy/;

const operandsOf = (words: readonly string[]): readonly string[] =>
  words
    .slice(1)
    .flatMap((word) => (word.startsWith("-") ? (/^--\w[\w-]*=(.+)$/s.exec(word)?.[1] ?? []) : word));

/**
 * Returns the names of links that commands may create. Where they lead is known, but not where a path through several of them
 * leads: `ln -s . a; ln -s a/sub b; cat b/x`.
 */
export function linksIn(commands: readonly (readonly string[])[]): ReadonlySet<string> {
  const names = commands
    .flatMap(linkers)
    .flatMap(operandsOf)
    .map((word) => basename(word));
  return new Set(names.filter((name) => !/^\.{0,2}$/.test(name)));
}

/** Returns the places where links lead that a command creates: a relative target starts in the directory of the link. */
export function linkTargets(words: readonly string[]): readonly string[] {
  return linkers(words).flatMap((own) => {
    const operands = operandsOf(own);
    const link = operands.at(-1) ?? "";
    const targets = operands.slice(0, Math.max(1, operands.length - 1)).filter((word) => !/^[/~]/.test(word));
    return targets.flatMap((target) => [`${dirname(link)}/${target}`, `${link}/${target}`]);
  });
}
