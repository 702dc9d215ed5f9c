import { basename } from "node:path";
import { linkTargets } from "./created-links.ts";
import { takesOnlyData } from "./data-words.ts";
import { MAX_NAMES, MAX_PATH } from "./line-limits.ts";
import { ANYWHERE } from "./pattern-meetings.ts";
import { readingOf } from "./readers.ts";
import { baseName, codesIn, runnerOf } from "./runners.ts";
import { scriptWords, tokensOf } from "./scripts.ts";
import { textIndexes } from "./text-values.ts";
import { copiedBy, hasManyTargets } from "./writers.ts";

/** Returns the files whose contents a command reads, if it changes nothing; undefined for every other command. */
export function contentsRead(words: readonly string[]): readonly string[] | undefined {
  const reading = readingOf(words);
  if (reading === undefined) return undefined;
  if (reading.contents) return reading.paths.flatMap((path) => [path, ...afterColons(path)]);
  // It shows the id of a file, with which another command of git reads it.
  return words.includes("rev-parse") ? reading.paths.flatMap(afterColons) : [];
}

/** Returns the paths after each colon: git reads `HEAD:.env` from a revision, `:0:.env` from the index, `:(top).env` as a file. */
function afterColons(path: string): string[] {
  const parts = path.split(":", MAX_COLONS);
  const found = parts.slice(1).map((_, i) => parts.slice(i + 1).join(":"));
  return [...found, ...found.map((part) => part.replace(/^\([^)]*\)/, ""))];
}

/** Returns paths that git reads from the top of the repository (`HEAD:a/b`, `:/a/b`), as they are in a directory below it. */
export function pathsFromTop(words: readonly string[], directory: string): readonly string[] {
  if (baseName(words[0] ?? "") !== "git") return [];
  const texts = textIndexes(words);
  const depth = directory.split("/").length;
  const named = words.filter((word, at) => word.includes(":") && !texts.has(at));
  return named.flatMap(afterColons).flatMap((path) => {
    const parts = path.replace(/^\/+/, "").split("/");
    const isAbove = (end: number): boolean => directory.endsWith(`/${parts.slice(0, end).join("/")}`);
    return parts
      .slice(0, depth)
      .flatMap((_, at) => (at === 0 || isAbove(at) ? [parts.slice(at).join("/")] : []));
  });
}

/** Returns whether a path has more colons than are searched for names. */
export function hasManyColons(path: string): boolean {
  return path.split(":", MAX_COLONS + 1).length > MAX_COLONS;
}

const MAX_COLONS = 64;

/** Returns the texts in a command's words that may be paths; undefined if they are too many or too long. */
export function namesIn(words: readonly string[]): readonly string[] | undefined {
  const texts = textIndexes(words);
  const from = baseName(words[0] ?? "") === "git" && /^[a-z][a-z-]*$/.test(words[1] ?? "") ? 2 : 1;
  const named = words.filter((_, at) => at >= from && !texts.has(at));
  const suffixed = suffixedNames(named, suffixesOf(words));
  if (suffixed === undefined || named.some((word) => MANY_LETTERS.test(word)) || hasManyTargets(words))
    return undefined;
  return [
    ...named.flatMap(namesInWord),
    ...suffixed,
    ...copiedBy(words),
    ...linkTargets(words),
    ...derivedNames(baseName(words[0] ?? ""), named),
    ...[...scriptWords(words), ...quotedTexts(words, named)].flatMap(tokensOf),
    ...gluedNames(words, named),
  ];
}

/** Returns words that may be code for a program that no table knows: `duckdb -c "COPY t TO '.env'"`. */
function quotedTexts(words: readonly string[], named: readonly string[]): readonly string[] {
  const quoted = named.filter((word) => /[\s'"`|&<>(){}[\]\\!]/.test(word));
  return quoted.length === 0 || takesOnlyData(words) ? [] : quoted;
}

/** Returns all names with each suffix; undefined if they would be too many, or too long. */
function suffixedNames(
  named: readonly string[],
  suffixes: ReadonlySet<string>,
): readonly string[] | undefined {
  if (named.length * suffixes.size > MAX_NAMES) return undefined;
  const longest = Math.max(0, ...named.map(({ length }) => length));
  const found: string[] = [];
  for (const suffix of suffixes) {
    const stars = suffix.split("*").length - 1;
    if (stars > 0 && suffix.length + stars * longest > MAX_PATH) return undefined;
    // sed and perl replace each star with the name.
    for (const name of named) found.push(stars > 0 ? suffix.replaceAll("*", () => name) : `${name}${suffix}`);
  }
  return found;
}

/** Returns a word, and the parts of it that a program may read as a path, including as a URL spells them. */
function namesInWord(word: string): string[] {
  const decoded = word.replace(/%([2-7][0-9a-f])/gi, (_, code) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
  // curl reads `{a}` as a, and `#1` as the text that a pattern of the URL matched.
  const spelled = decoded.replace(/\{([^{},]*)\}/g, "$1").replace(/#\d/g, "*");
  return [...new Set([word, decoded, spelled])].flatMap(partsOfWord);
}

function partsOfWord(word: string): string[] {
  const afterEquals = word.includes("=")
    ? [word.slice(word.indexOf("=") + 1), word.slice(word.lastIndexOf("=") + 1)]
    : [];
  // `HEAD:.env`, `:(top).env`, `a=@"x",.env;type=text/plain`, `OPEN:.env,creat`, `file:.env?mode=ro`.
  const parts = /[:@,;<)?#]/.test(word) ? word.split(/[:@,;<)?#]/).map(withoutQuotes) : [];
  return [word, ...afterEquals, ...parts, ...valuesAfterLetters(word)];
}

/**
 * Returns the texts that may be a value after the letters of options: `-t.git`, `-Dt.claude`, `-Irm`, `-avzerm`.
 * @param longest maximum length of a value after more letters than such options have
 */
export function valuesAfterLetters(word: string, longest = word.length): string[] {
  const letters = /^-\w+/.exec(word)?.[0].length;
  if (letters === undefined) return [];
  const end = Math.min(word.length, Math.max(letters + 1, MIN_CLUSTER));
  const values = Array.from({ length: end - 2 }, (_, i) => word.slice(i + 2));
  return values.filter(({ length }, i) => i < MIN_CLUSTER - 2 || length <= longest);
}

function withoutQuotes(part: string): string {
  return part.replace(/^(["'])(.*)\1$/s, "$2");
}

/** A value may begin at each of the first characters, and after many letters: `-vvvvvvvvvvvvvt.git`. */
const MIN_CLUSTER = 12;
/** More letters of options than are searched for values. */
const MANY_LETTERS = /^-\w{65}/;

/** Returns the names that find looks for, in any directory: `-name x`, but not `! -name x`. */
export function searchedNames(words: readonly string[]): readonly string[] {
  return words.flatMap((word, at) => {
    const test = /^-i?(name|path|wholename)$/.exec(words[at - 1] ?? "")?.[1];
    if (test === undefined || /^(?:!|-not)$/.test(words[at - 2] ?? "")) return [];
    return test === "name" || word.startsWith("*/")
      ? [word, `/${ANYWHERE}/${word.replace(/^(?:\*\/)+/, "")}`]
      : [word];
  });
}

/** Returns names of files that a program derives from other names: `gunzip .envrc.gz`, `split a .bash`. */
function derivedNames(program: string, named: readonly string[]): string[] {
  if (program === "find") return [...searchedNames(named)];
  if (/^(?:split|csplit)$/.test(program)) return named.flatMap(namesInWord).map((word) => `${word}*`);
  const stems = named.map((word) => word.replace(/\.\w+$/, ""));
  if (UNPACKS.test(program))
    return [...stems, ...named.flatMap((word) => PACKED.map((end) => `${word}${end}`))];
  if (COMPILES.test(program)) return stems.flatMap((stem) => ["", ...BUILT].map((end) => `${stem}${end}`));
  return CLONES.test(program)
    ? named.map((word) => basename(word.replace(/\/+$/, "").replace(/\.(?:git|bundle)$/, "")))
    : [];
}

const PACKED = [".gz", ".bz2", ".xz", ".lzma", ".zst", ".lz4", ".lz", ".br", ".Z", ".gpg", ".asc", ".sig"];
const COMPILES =
  /^(?:[\w-]*(?:gcc|g\+\+|clang|clang\+\+)(?:-[\d.]+)?|c[cx]?c?|c\+\+|as|rustc|javac|kotlinc|ghc|ocamlc|tsc|swiftc|go|zig|nasm|protoc)$/;
/** Endings of the files whose names compilers derive from a source. */
const BUILT = [
  ".o",
  ".s",
  ".i",
  ".ii",
  ".d",
  ".gch",
  ".class",
  ".js",
  ".d.ts",
  ".hi",
  ".cmi",
  ".cmo",
  ".rlib",
  ".su",
  ".gcno",
];
/** Programs that create a directory with the name of a repository. */
const CLONES = /^(?:git|gh|glab|hg|svn|jj)$/;

/** Programs that write a file without the suffix of its packed form. */
const UNPACKS =
  /^(?:g(?:un)?zip|b(?:un)?zip2|unxz|xz|unlzma|lzma|unzstd|zstd|unlz4|lz4|p(?:igz|bzip2|ixz)|unpigz|lzip|lzop|brotli|uncompress|gpg2?)$/;

/** Returns paths right after a command of sed or an editor: `w.env`, `s/a/b/w.env`, `1r.env`. */
function gluedNames(words: readonly string[], named: readonly string[]): string[] {
  const ofEditors = codesIn(words).codes.filter(({ program }) =>
    /^(?:n?vim?|vimdiff|view|ex)$/.test(program),
  );
  // GNU sed takes abbreviated options too: `--expr=w.env`.
  const isSed = words.some((word) => runnerOf(word)?.language === "sed");
  const inSed = isSed ? named.flatMap((word) => [...word.matchAll(SED_FILE)]) : [];
  return [
    ...inSed.map(([, path, other = ""]) => path ?? other),
    ...ofEditors.flatMap(({ code }) =>
      [...code.matchAll(/(?<![a-zA-Z])[a-z]+!?([./~][^\s|]*)/g)].map(([, path = ""]) => path),
    ),
  ];
}

/** The file after `r` or `w`, with any flags before: from the start of letters and digits, or after the last digit. */
const SED_FILE = /(?<![a-zA-Z\d])[gpiImMe\d]*[rRwW]([^\s;}]+)|(?<=\d)[gpiImMe]*[rRwW]([^\s;}]+)/g;

/** `cp --suffix=rc` keeps a copy of `.bash` as `.bashrc`, and so do `sed -nirc`, `patch -z rc` and abbreviated options. */
function suffixesOf(words: readonly string[]): ReadonlySet<string> {
  const found = words.flatMap((word, at) => {
    const [option = ""] = word.split("=", 1);
    const isLong = word.startsWith("--");
    if (isLong && !LONG_SUFFIXES.some((name) => option.length > 2 && name.startsWith(option))) return [];
    const glued = isLong ? word.slice(option.length + 1) : (SHORT_SUFFIX.exec(word)?.[1] ?? "");
    const isNext = isLong ? option === word : /^-\w{0,11}[Sz]$/.test(word);
    return [glued, isNext ? (words[at + 1] ?? "") : ""].filter((text) => text !== "");
  });
  return new Set(found);
}

const LONG_SUFFIXES = ["--suffix", "--in-place", "--additional-suffix", "--backup-suffix"];
/** The rest of a word after the first letter that may take a suffix: `-i` of sed, perl and ruby, `-S` of cp, `-z` of patch. */
const SHORT_SUFFIX = /^-[A-RT-Za-hj-y\d]{0,11}[iSz](.+)$/s;
