import { isAscii } from "../../../text/folded-name.ts";

/** A language whose code a program takes from a word or its input. `other`: no code in it counts as harmless. */
export type Language = "shell" | "awk" | "sed" | "python" | "node" | "perl" | "other";

/** Returns whether every version of awk or sed takes the next word as the value of an option. */
export function takesValue(language: Language, option: string, next = ""): boolean {
  if (language === "awk") return /^-[Ffv]$/.test(option);
  return language === "sed" && (/^(?:-f|--file)$/.test(option) || (option === "-l" && /^\d+$/.test(next)));
}

/** Options that take the next word as their value only in some versions of awk: `-bF`, `--assign`. */
const OF_SOME_AWK = /^-(?![Ffv].)[A-Za-z]+$|^--[\w-]+$/;

/** Returns whether some version of awk or sed takes the next word as the value of an option: GNU sed does after `-l`. */
export function mayTakeValue(language: Language, option: string): boolean {
  return language === "awk"
    ? OF_SOME_AWK.test(option)
    : language === "sed" && /^(?:-l|--l[\w-]*)$/.test(option);
}

/** Returns whether every version of awk or sed reads its code from a file because of an option. awk of macOS ignores `--file`. */
export function takesFile(language: Language, option: string, isAfterOperand: boolean): boolean {
  return language === "sed" ? /^(?:-f|--file)/.test(option) : option.startsWith("-f") && !isAfterOperand;
}

/** Maximum characters of code to search. Longer code counts as harmful. */
export const MAX_CODE = 4_096;

/** Names that harmless code of Python or Node may use besides its own variables of one letter. */
const HARMLESS_NAMES: ReadonlySet<string> = new Set(
  `print import json sys math re len range sum min max sorted str int float list dict set tuple enumerate zip join split strip
  load loads dump dumps stdin stdout stderr read readline readlines write for in if else and or not is as from with lambda
  version version_info platform indent sort_keys get keys values items format round abs any all map filter True False None
  console log error require JSON parse stringify argv length forEach const let var function return Math Number
  String Object Array data name line lines key value result join map filter slice push typeof null undefined true false
  version versions random floor ceil sqrt pow pi e i j k n x y v d f s a b c datetime date now today isoformat time
  count lower upper replace startswith endswith append new Date toISOString node`.split(/\s+/),
);

/**
 * Returns whether code certainly starts no program. Strict: code that this reader does not know is not harmless.
 */
export function isHarmlessCode(language: Language, code: string): boolean {
  if (code.length > MAX_CODE) return false;
  switch (language) {
    case "shell":
      return false;
    case "awk":
      return isHarmlessAwk(code);
    case "sed":
      return isHarmlessSed(code);
    case "perl":
      return HARMLESS_PERL.some((pattern) => pattern.test(code)) && !HARMFUL_PERL.test(code);
    case "python":
    case "node":
      return isHarmlessScript(language, code);
    default:
      return false;
  }
}

/** A text for the part of a file's name that a pattern leaves open: harmful as a format or as code. */
export const ANY_NAME = '%n;system("")';

/** Code of sed whose patterns are in a regular expression or a replacement: a line end there is an error, and no name has a `/`. */
const WITHIN_SLASHES = /^(?:\/[^/]*\/[dp]|s\/[^/]*\/[^/]*\/\w*)$/;

/**
 * Returns names of files that a pattern of a command may match. They mean as much as possible to a program that does not take the word
 * for a file: `awk *`, `printf *`.
 */
export function namesLike(pattern: string): readonly string[] {
  const plain = pattern.replace(/\[(\w)\]/g, "$1");
  const close = plain.lastIndexOf("]");
  const like = (open: string): string =>
    plain.replace(/\*+|[?[]/g, (char, at: number) => (char === "[" && at + 1 >= close ? char : open));
  // A name may have several lines.
  return WITHIN_SLASHES.test(plain) ? [like(ANY_NAME)] : [like(ANY_NAME), like(`\n${ANY_NAME}`)];
}

/** Returns whether code certainly starts no program, whatever file's name a shell puts in its place. */
export function isHarmlessPattern(language: Language, code: string): boolean {
  return namesLike(code).every((name) => isHarmlessCode(language, name));
}

/** A string on one line, without expressions in braces. */
const STRING = /"(?:[^"\\{}\n]|\\.)*"|'(?:[^'\\{}\n]|\\.)*'/g;

function isHarmlessScript(language: "python" | "node", code: string): boolean {
  // A multi-line string: the code between two of them would look like a string.
  if (/"""|'''/.test(code)) return false;
  // A string names no program as long as nothing can run one.
  const shown = code
    .replace(/\bprocess\.(?:argv|versions?|platform|stdout\.write)\b/g, "x")
    .replace(/\brequire\((["'])\.{0,2}\/?[\w./-]+\.json\1\)/g, "x")
    .replace(/\bopen\((["'])[\w./-]+\1\)/g, "x")
    .replace(STRING, '""');
  if (language === "node" && (HARMFUL_NODE.test(shown) || mayHideQuote(shown))) return false;
  const bare = shown.replaceAll('""', " ");
  return (
    // Python reads names of other letters as names of ASCII.
    isAscii(bare) &&
    !/["'`]|\brequire\b/.test(bare) &&
    (bare.match(/[A-Za-z_$][\w$]*/g) ?? []).every((name) => HARMLESS_NAMES.has(name))
  );
}

/**
 * Code that runs other code without a listed name: `import("data:…")`, and names that Node computes or reads from strings, as in
 * `console.log["constructor"]("…")()` and `({"constructor": f}) => f("…")`. An index is accepted, but not a call of the indexed
 * value, and not a comment before a bracket.
 */
const HARMFUL_NODE =
  /\bimport\b|\/[/*]|<!--|-->|[\w$)\]"'}]\s*(?:\?\.\s*)?\[(?!\s*\d+\s*\])|[{,]\s*\[[^\]]*\]\s*:|[{,]\s*""\s*:(?!\s*(?:""|-?\d|(?:true|false|null)\b|[[{]))|\]\s*(?:\?\.\s*)?\(/;

/** A regular expression without quotes, where no division can be. */
const PLAIN_PATTERN =
  /(?<=[(,=:[!&|?{;<>*%~^]\s*)\/(?![*/])(?:[^/\\[\n"'`]|\\[^\n"'`]|\[(?:[^\]\\\n"'`]|\\[^\n"'`])*\])+\/[a-z]*/g;
/** A slash that may begin a regular expression: it follows no value. */
const PATTERN_START =
  /(?:^|[^\w$\]"'\s]|\b(?:return|typeof|case|do|else|in|of|void|delete|new|throw|yield|await))\s*\//;

/** Returns whether a regular expression of Node may contain a quote, so that the strings are not where they seem to be. */
function mayHideQuote(shown: string): boolean {
  const lines = shown.replace(PLAIN_PATTERN, "0").split("\n");
  return lines.some((line) => PATTERN_START.test(line.slice(0, Math.max(0, line.lastIndexOf('""')))));
}

/** One substitution, or `print` under one condition, without interpolated code. */
const HARMLESS_PERL: readonly RegExp[] = [
  /^(?:s|tr|y)([/,|#!])(?:(?!\1)[^\\$]|\\[^\n]|\$(?=\1|[|)]))*\1(?:(?!\1)[^\\$]|\\[^\n]|\$\d)*\1[gimsx]*;?$/,
  /^print(?: if| unless) \/(?:[^/\\$]|\\[^\n])*\/i?;?$/,
];
/** Code in a pattern, or in the index of a variable: `(?{…})`, `$1{…}`. */
const HARMFUL_PERL = /\((?:\*|\?[?p]?)\{|\$[\w:]*\s*[[{]|->|@/;

/**
 * Returns whether awk code only computes and prints. Only `print` can be redirected, so a `>` or `|` before the first `print` is
 * an operator. A regular expression looks like a division, so text between slashes counts as code.
 */
function isHarmlessAwk(code: string): boolean {
  // A comment may contain half of a string.
  const isRaw = /[/#\n]/.test(code);
  const bare = isRaw ? code : code.replace(/"(?:[^"\\]|\\.)*"/gs, '""');
  if (/system|getline|@|extension|\\\n/.test(bare)) return false;
  const first = bare.search(/print/);
  const printing = first < 0 ? "" : bare.slice(first);
  if (isRaw) return !/>|(?<!\|)\|(?!\|)/.test(printing);
  return !/(?<!\|)\|(?!\|)|\bprintf?\b[^;}]*>/.test(printing);
}

/** Returns whether sed code only edits text: no `e`, `w` or `r`, and no `s///e` or `s///w`. */
function isHarmlessSed(code: string): boolean {
  const address =
    /^\s*(?:(?:\d+|\$|\/(?:[^/\\\n]|\\.)*\/I?)(?:\s*,\s*(?:[+~]?\d+|\$|\/(?:[^/\\\n]|\\.)*\/I?))?\s*!?\s*)?/;
  let rest = code;
  while (rest.trim() !== "") {
    const prefix = address.exec(rest)?.[0] ?? "";
    rest = rest.slice(prefix.length);
    const command =
      /^s([^\w\s\\])(?:(?!\1)[^\\\n]|\\[\s\S])*\1(?:(?!\1)[^\\\n]|\\[\s\S])*\1[gpiIM\d]*\s*(?:[;}\n]|$)/.exec(
        rest,
      ) ??
      /^y([^\w\s\\])(?:(?!\1)[^\\\n]|\\.)*\1(?:(?!\1)[^\\\n]|\\.)*\1\s*(?:[;}\n]|$)/.exec(rest) ??
      /^(?:[dDgGhHlnNpPxz=]|[qQ]\s*\d*)\s*(?:[;}\n]|$)/.exec(rest) ??
      /^[{}]\s*;?/.exec(rest) ??
      // The text begins on the next line only right after the backslash; otherwise GNU sed takes the next line for a command.
      // The text does not continue on another line.
      /^[aic](?:\\\n|[ \t]*\\?[ \t]*(?=\S|$))(?:[^\\\n]|\\[^\n])*(?:\n|$)/.exec(rest);
    if (command === null || command[0] === "") return false;
    const delimiter = /^[sy](.)/.exec(command[0])?.[1];
    if (splitsSet(prefix, "/") || (delimiter !== undefined && splitsSet(command[0], delimiter))) return false;
    rest = rest.slice(command[0].length);
  }
  return true;
}

/** Returns whether a set in brackets may contain the delimiter: `s/[/]a/` has its end elsewhere in some versions of sed. */
function splitsSet(command: string, delimiter: string): boolean {
  const parts = command.replace(/\\[\s\S]/g, "x").split(delimiter);
  return parts.some((part) => {
    const plain = part.replace(/\[([:.=])\w+\1\]/g, "x");
    return /\[[^\]]*\[[:.=]/.test(plain) || plain.replace(/\[\^?(?:\][^\]]*\]|[^\]]+\])/g, "").includes("[");
  });
}
