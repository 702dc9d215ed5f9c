import type { Redirect, Redirection, Word, WordPart } from "unbash";

export interface InputText {
  readonly text: string;
  /** The part of it in which the shell expands variables. */
  readonly expanded: string;
}

export function inputText(redirect: Redirection): InputText | undefined {
  if (redirect.type === "HereDoc") {
    const { text } = redirect.body;
    return { text, expanded: redirect.delimiter?.quoted ? "" : text };
  }
  if (redirect.type !== "HereString" || redirect.target === undefined) return undefined;
  return { text: redirect.target.value, expanded: redirect.target.text.replace(/'[^']*'/g, "") };
}

const EXPANSIONS: ReadonlySet<string> = new Set([
  "SimpleExpansion",
  "ParameterExpansion",
  "CommandExpansion",
  "ArithmeticExpansion",
  "ProcessSubstitution",
]);

/** Returns whether the shell expands a word. zsh has more expansions than the grammar of bash: `$=x`. */
export function isExpandedName({ text, parts = [] }: Word): boolean {
  return parts.some(isExpansion) || /^\$[^'"{(A-Za-z]/.test(text);
}

/** Returns whether the shell replaces a part; the home directory's value is known. */
function isExpansion(part: WordPart): boolean {
  if (part.type === "DoubleQuoted" || part.type === "LocaleString") return part.parts.some(isExpansion);
  return EXPANSIONS.has(part.type) && !isHome(part);
}

function isHome(part: WordPart): boolean {
  return (
    (part.type === "SimpleExpansion" && part.text === "$HOME") ||
    (part.type === "ParameterExpansion" && part.parameter === "HOME" && part.text.length === 7)
  );
}

/** Returns whether a shell expands a word to names of files, or to several words. */
export function isPattern({ parts }: Word): boolean {
  return (
    parts?.some(({ type }) => type === "Glob" || type === "ExtendedGlob" || type === "BraceExpansion") ??
    false
  );
}

/** Returns whether a shell expands braces in a word to several words. */
export function expandsBraces({ parts }: Word): boolean {
  return parts?.some(({ type }) => type === "BraceExpansion") ?? false;
}

/** Returns whether a word contains a command in the index of an array: `a[$(rm x)]`. */
export function mayRunIndex(word: string): boolean {
  const at = word.indexOf("[");
  return at >= 0 && /\$\(|`/.test(word.slice(at));
}

/** Variables whose value a program or shell runs. */
export const NAMES_PROGRAM =
  /(?:PAGER|EDITOR|VISUAL|BROWSER|COMMAND|SHELL|_SSH|_RSH|ASKPASS|BASH_ENV|^ENV|^PS[0-4]|LESSOPEN|LESSCLOSE|EXTERNAL_DIFF|MAKEFLAGS)$/;

/** Returns whether a command sets a shell option that makes `*` match `.env`. */
export function showsHidden(words: readonly string[]): boolean {
  return words.some((word) => /^(?:dotglob|glob_?dots|GLOBIGNORE=.*)$/i.test(word));
}

/** Arrays of zsh that contain the text of its aliases and functions. */
export const DEFINES = /^(?:functions|[gs]?aliases)$/;

/** Returns whether a command may redefine the names of commands: by an alias, a hashed path or PATH. */
export function redefines(words: readonly string[]): boolean {
  return redefinesBuiltins(words) || words[0] === "hash" || words.some((word) => word.startsWith("PATH="));
}

/** Returns whether a command may redefine the names of builtins. */
export function redefinesBuiltins(words: readonly string[]): boolean {
  return /^(?:alias|enable|abbr|functions?|autoload)$/.test(words[0] ?? "");
}

/** A word that may change HOME, PWD or the command pwd: `HOME=x`, or the name alone as a word of `read` or `alias`. */
export const SETS_PLACE = /^(?:HOME|PWD|pwd)(?:\[|\+?=|$)/;

/** Returns whether a command may change one of these, directly or by another name for a variable: `declare -n r=HOME`. */
export function changesPlaces([name = "", ...args]: readonly string[]): boolean {
  const makesNames = [name, ...args].some((word) => /^(?:declare|typeset|local)$/.test(word));
  return args.some((word) => SETS_PLACE.test(word) || (makesNames && /^-[A-Za-z]*n/.test(word)));
}

/** Returns whether a command may run a command in its words several times. */
export function repeatsWords([name = ""]: readonly string[]): boolean {
  return /^(?:repeat|trap|alias|abbr)$/.test(name);
}

/** Returns whether a group of a pattern has no qualifier of zsh that runs code: `*(e:'rm x':)`. */
export function isPlainGroup(text: string): boolean {
  return /^[\w.*?|/()@!+\-[\]]*$/.test(text);
}

/** Returns whether a redirection gives a command input. */
export function isInput(redirect: Redirection): boolean {
  return redirect.type !== "Redirect" || redirect.operator.startsWith("<");
}

/** Returns whether a redirection sets a variable: `{name}>file`. */
export function hasVariableDescriptor({ descriptor }: Redirect): boolean {
  return descriptor?.type === "FileDescriptorVariable";
}

/**
 * Returns whether a target is one plain path. zsh reads `>!` as one operator and `=name` as a program's path, no shell
 * expands a quoted `~`, and a glob may match any file.
 */
export function isPlainPath(path: string, text: string): boolean {
  return (
    !/[*?[#^]|.~/.test(path) && !/^[!&|=]/.test(path) && (!path.startsWith("~") || text.startsWith("~/"))
  );
}
