import { readGit } from "./git-readers.ts";
import { ANY_NAME } from "./harmless-code.ts";
import { type Options, options, type Reading, readOptions } from "./options.ts";
import { meansMore, printsVersion, SPECIAL_READERS, withEndings } from "./special-readers.ts";
import { FIND_WITH_VALUE, FIND_WITHOUT_VALUE } from "./tables/find-words.ts";
import { ASSIGNS, assigningWords } from "./tables/variables.ts";

interface Reader {
  readonly options: Options;
  /** Which operands are paths; the others are text, patterns or numbers. */
  readonly operands: "paths" | "text" | "after-first" | "at-most-one";
  readonly contents: boolean;
}

/** Programs that print contents of the files in their operands. */
const CONTENTS = table("paths", true, {
  cat: "AbeEnstTuv number number-nonblank show-all show-ends show-nonprinting show-tabs squeeze-blank",
  head: "#qvz|nc lines= bytes= quiet silent verbose zero-terminated",
  tail: "#fFqrvz|nc lines= bytes= follow[=] quiet silent verbose retry",
  wc: "clmLw bytes chars lines words max-line-length",
  nl: "p|bdfhilnsvw body-numbering= number-format= number-width= starting-line-number=",
  tac: "br|s before regex separator=",
  rev: "-",
  fold: "bcs|w bytes spaces width=",
  expand: "i|t initial tabs=",
  unexpand: "a|t all first-only tabs=",
  column: "t|s table separator=",
  paste: "sz|d delimiters= serial",
  comm: "123z check-order nocheck-order output-delimiter= total",
  join: "i|12ejotv|a ignore-case",
  cut: "nsz|bcdf bytes= characters= complement delimiter= fields= only-delimited output-delimiter=",
  cmp: "bls|n bytes= print-bytes quiet silent verbose",
  diff: "abBcdeinNpqrstTuwyZ|CUxIW brief context[=] unified[=] recursive report-identical-files ignore-all-space ignore-blank-lines ignore-case ignore-space-change ignore-trailing-space new-file side-by-side text color[=] exclude= minimal strip-trailing-cr suppress-common-lines width= show-c-function no-dereference",
  od: "bcdefhilosvx|ANStj|w address-radix= format= read-bytes= skip-bytes= width[=]",
  hexdump: "bcCdovx|nse",
  strings: "afo|nte all bytes= radix=",
  sort: "bcCdfghimMnrRsuVz|kt numeric-sort reverse key= field-separator= unique ignore-case ignore-leading-blanks general-numeric-sort human-numeric-sort version-sort month-sort dictionary-order random-sort stable check[=] merge zero-terminated",
  md5sum: "btz binary text zero tag",
  sha1sum: "btz binary text zero tag",
  sha256sum: "btz binary text zero tag",
  sha512sum: "btz binary text zero tag",
  cksum: "-",
  shasum: "bt0U|a algorithm= binary text UNIVERSAL",
  md5: "qr|s",
  base64: "dD|wb decode wrap=",
  who: "abdHlmpqrstTu all boot count heading users",
  zcat: "-",
  bzcat: "-",
  xzcat: "-",
  shuf: "ez|in echo input-range= head-count= zero-terminated",
  fmt: "cstu|w crown-margin split-only tagged-paragraph uniform-spacing width=",
  iconv: "cs|ft from-code= to-code=",
});

/** Programs that show names and properties of the files in their operands. */
const NAMES = table("paths", false, {
  ls: "1aAbBcCdfFghGiklmnNopqQrRsStuUvxXZ||ITw all almost-all classify[=] color[=] directory full-time group-directories-first hide= human-readable ignore= ignore-backups indicator-style= inode literal no-group numeric-uid-gid quote-name recursive reverse si size sort= time= time-style= width= zero",
  stat: "LtfxnF|c format= printf= terse dereference file-system",
  du: "abchHkmsSx0|dBt all apparent-size bytes block-size= exclude= human-readable max-depth= one-file-system summarize total si threshold=",
  df: "ahHiklPT|Btx all block-size= human-readable inodes local output[=] portability print-type si total type=",
  file: "bhiI brief mime mime-type mime-encoding no-dereference",
  tree: "adfghpsuDFirtvUcCnNqQAJX|LIP dirsfirst filesfirst noreport charset= filelimit= du si gitignore prune sort= matchdirs ignore-case inodes device timefmt=",
  readlink: "efmnqsvz canonicalize canonicalize-existing canonicalize-missing no-newline quiet silent zero",
  realpath:
    "emLPqsz canonicalize-existing canonicalize-missing logical physical quiet strip no-symlinks zero",
});

/** Programs whose operands are not files. */
const TEXT = table("text", false, {
  basename: "az|s multiple suffix= zero",
  dirname: "z zero",
  pwd: "LP logical physical",
  which: "as all",
  type: "aftpP",
  seq: "w|fs equal-width format= separator=",
  sleep: "-",
  uname: "aimnoprsv all kernel-name nodename kernel-release kernel-version machine operating-system",
  whoami: "",
  id: "aGgnruz user group groups name real",
  groups: "-",
  nproc: "- all",
  uptime: "ps pretty since",
  pgrep:
    "acfilnovx|dgGPtuU list-name list-full full newest oldest exact ignore-case count inverse delimiter= parent= group= euid= uid= terminal=",
  pstree: "aAcglnpstTuU arguments ascii compact-not show-pids show-parents uid-changes",
  whereis: "bms",
  free: "bkmghltwv bytes kibi mebi gibi human lohi total wide",
  lscpu: "- all extended[=] json",
  lsblk: "afJlmpPrst|o all fs json list output= paths",
  vmstat: "adfnstw",
  w: "fhiosu",
  tty: "s silent quiet",
  locale: "am all-locales charmaps",
  getconf: "-",
  expr: "-",
  factor: "-",
  numfmt: "z|d to= from= suffix= padding= format= field= delimiter= grouping header[=]",
  yes: "-",
  cal: "13jmsy|AB",
  tr: "cCdst complement delete squeeze-repeats truncate-set1",
});

/** Programs whose first operand is a pattern, and the others files. fd searches names only, but its rule is no looser. */
const PATTERN_FIRST = table("after-first", true, {
  grep: "#abcEFGHhiIlLnoPqrsTvwxyzZ|ABCm||e after-context= before-context= context[=] basic-regexp extended-regexp fixed-strings perl-regexp regexp== binary-files= byte-offset color[=] colour[=] count exclude= exclude-dir= files-with-matches files-without-match ignore-case include= initial-tab invert-match line-number line-regexp max-count= no-filename with-filename no-messages null null-data only-matching quiet silent recursive text word-regexp line-buffered",
  rg: "0FHIPNUachilnopqsSuvwx.|ABCEgtTmMrd||e after-context= before-context= context= case-sensitive color= column count count-matches crlf encoding= files files-with-matches files-without-match fixed-strings glob= iglob= glob-case-insensitive heading no-heading hidden ignore-case invert-match json line-number no-line-number line-regexp max-columns= max-count= max-depth= max-filesize= multiline multiline-dotall no-config no-filename with-filename no-ignore no-ignore-vcs no-messages null only-matching passthru pcre2 quiet regexp== replace= smart-case sort= sortr= stats text threads= trim type= type-list type-not= unrestricted vimgrep word-regexp",
  fd: "HIuspgaFi01|tedEcSmjo hidden no-ignore type= extension= max-depth= min-depth= exact-depth= exclude= glob regex case-sensitive ignore-case absolute-path full-path fixed-strings size= changed-within= changed-before= color= print0 max-results= threads= no-ignore-vcs",
  fdfind:
    "HIuspgaFi01|tedEcSmj hidden no-ignore type= extension= max-depth= exclude= glob ignore-case absolute-path full-path fixed-strings",
  jq: "acCejMnrRsSV0| arg ascii-output color-output monochrome-output compact-output exit-status join-output null-input raw-input raw-output raw-output0 slurp sort-keys tab indent= seq stream",
});

const READERS: ReadonlyMap<string, Reader> = new Map([
  ...CONTENTS,
  ...NAMES,
  ...TEXT,
  ...PATTERN_FIRST,
  ["egrep", PATTERN_FIRST.get("grep") as Reader],
  ["fgrep", PATTERN_FIRST.get("grep") as Reader],
  // A second operand of uniq is a file that it writes.
  [
    "uniq",
    {
      options: options(
        "#cdDiuz|fsw count repeated unique ignore-case skip-fields= skip-chars= check-chars= zero-terminated",
      ),
      operands: "at-most-one",
      contents: true,
    },
  ],
  // xxd also writes its second operand. It reads one option in each word, so no next word is certainly a value.
  ["xxd", { options: options("abCeEiup||cglos"), operands: "at-most-one", contents: true }],
]);

/**
 * Programs that only read, with the options that keep it so. Source: the manuals of GNU coreutils, grep, diffutils, findutils,
 * util-linux, file, tree, ripgrep and jq, and of the same programs on macOS. Every other option, even an abbreviated one,
 * makes a command ask.
 */
function table(
  operands: Reader["operands"],
  contents: boolean,
  rows: Readonly<Record<string, string>>,
): Map<string, Reader> {
  return new Map(
    Object.entries(rows).map(([name, row]) => [name, { options: options(row), operands, contents }]),
  );
}

const NOTHING: Reading = { paths: [], contents: false };

const readNothing = (): Reading => NOTHING;

/**
 * Returns the paths that a command reads if it does nothing else; undefined if it may write, run a program, or is unknown.
 * @param words the program and its words, without quotes
 */
export function readingOf(words: readonly string[]): Reading | undefined {
  const [name = "", ...args] = words;
  if (printsVersion(words)) return NOTHING;
  if (READERS.has(name) && args.length === 1 && /^--(?:version|help)$/.test(args[0] ?? "")) return NOTHING;
  const special = Object.hasOwn(SPECIAL, name) ? SPECIAL[name] : undefined;
  if (special !== undefined) return special(args);
  const reader = READERS.get(name);
  return reader === undefined ? undefined : readFiles(name, args, reader);
}

function readFiles(name: string, args: readonly string[], reader: Reader): Reading | undefined {
  const { operands: written, used, unknown, late } = readOptions(args, reader.options);
  if (unknown.length > 0) return undefined;
  if (reader.operands === "text") return NOTHING;
  // On macOS, most of these programs read no option after an operand. Programs with a pattern read them there on every system.
  const operands = reader.operands === "after-first" ? written : [...written, ...late];
  if (reader.operands === "at-most-one" && operands.length > 1) return undefined;
  const { contents } = reader;
  if (meansMore(name, args)) return undefined;
  if (reader.operands !== "after-first") {
    const isTree = name === "diff" && (used.has("-r") || used.has("--recursive"));
    const follows = name === "diff" && !used.has("--no-dereference");
    return { paths: withEndings(name, operands), contents, tree: isTree, follows };
  }
  const hasPattern = ["-e", "--regexp", "--files"].some((option) => used.has(option));
  const paths = hasPattern ? operands : operands.slice(1);
  if (name === "jq" && mayReadMore(args, operands)) return undefined;
  const tree = name === "rg" || name.startsWith("fd") || used.has("-r") || used.has("--recursive");
  return { paths, contents, tree: name !== "jq" && tree };
}

/** jq's filters can print the environment, which may hold secrets, and load modules. The name of a file may be any filter. */
function mayReadMore(args: readonly string[], operands: readonly string[]): boolean {
  const variables = args.filter((word) => word === "--arg").length;
  const isName = (word: string): boolean => word === "{}" || word.includes(ANY_NAME);
  return operands.slice(0, 2 * variables + 1).some(isName) || READS_ENVIRONMENT.test(args.join(" "));
}

const READS_ENVIRONMENT = /\benv\b|\bENV\b|\b(?:import|include|modulemeta|input_filename)\b|\$\s*__/;

const SPECIAL: Readonly<Record<string, (args: readonly string[]) => Reading | undefined>> = {
  ...SPECIAL_READERS,
  // Commands that print their words, or do nothing, with any words.
  ...{ echo: readNothing, true: readNothing, false: readNothing, ":": readNothing },
  timeout: ([time = "", ...words]) =>
    /^\d+[smhd]?$/.test(time) && words[0] !== "timeout" ? readingOf(words) : undefined,
  git: readGit,
  find: readFind,
  printf: readPrintf,
  // An operand without `+` sets the clock.
  date: (args) => {
    const { operands, unknown } = readOptions(args, DATE);
    return unknown.length > 0 || operands.some((word) => !word.startsWith("+")) ? undefined : NOTHING;
  },
  command: ([option, ...names]) => (/^-[vV]$/.test(option ?? "") && names.length > 0 ? NOTHING : undefined),
  test: readTest,
  "[": readTest,
};

/** `-v x`, `%n` and numbers such as `PATH=5` set a variable, which may be PATH. */
function readPrintf(args: readonly string[]): Reading | undefined {
  const [format = ""] = args;
  const sets = format.startsWith("-") || ASSIGNS.test(format) || assigningWords(args).length > 0;
  return sets ? undefined : NOTHING;
}

const DATE = options("Ru|d|I date= iso-8601[=] rfc-email rfc-3339= utc universal");

/** `test` shows whether files exist; its other words are text. zsh evaluates the word after `-t`, so that `PATH=5` sets PATH. */
function readTest(args: readonly string[]): Reading | undefined {
  return args.some((word, at) => word.includes("[") || (args[at - 1] === "-t" && !/^\d*$/.test(word)))
    ? undefined
    : { paths: args.filter((word) => word.includes("/")), contents: false };
}

function readFind(args: readonly string[]): Reading | undefined {
  const paths: string[] = [];
  /** The tests and operators so far, with their values. */
  const tests: string[] = [];
  let isExpression = false;
  let isTree = false;
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at] ?? "";
    isExpression ||= beginsExpression(word);
    if (!isExpression && !word.startsWith("-")) paths.push(word);
    else if (/^-[ac]?newer$/.test(word)) {
      at += 1;
      paths.push(args[at] ?? "");
    } else if (word === "-exec") {
      const found = readExecuted(args, at);
      if (found === undefined || !areFiles(tests, paths)) return undefined;
      at = found;
      isTree = true;
    } else if (FIND_WITH_VALUE.has(word)) {
      at += 1;
      tests.push(`${word} ${args[at]}`);
    } else if (FIND_WITHOUT_VALUE.has(word)) tests.push(word);
    else return undefined;
  }
  return { paths, contents: isTree, tree: isTree };
}

/** Returns whether a word of find ends its list of paths. */
function beginsExpression(word: string): boolean {
  return word.startsWith("-") ? !/^-[HP]$/.test(word) : /^[!(),]$/.test(word);
}

/**
 * Returns whether find finds only regular files, because `-type f` leaves out links and no operator combines it with other tests. For
 * `strings @a/b`, the name is that of a file of options.
 */
function areFiles(tests: readonly string[], paths: readonly string[]): boolean {
  const hasOperator = tests.some((test) => /^(?:-o|-or|-not|[!(,])$/.test(test));
  return tests.includes("-type f") && !hasOperator && !paths.some((path) => path.startsWith("@"));
}

/**
 * Returns the last word of an `-exec` that only reads the files that find found; undefined for every other one. Every path
 * begins with a directory of find, so that no name is an option.
 */
function readExecuted(args: readonly string[], at: number): number | undefined {
  const end = args.findIndex((word, i) => i > at && (word === ";" || (word === "+" && args[i - 1] === "{}")));
  const words = args.slice(at + 1, end);
  const isPlain =
    READERS.has(words[0] ?? "") && words.slice(1).every((word) => word === "{}" || !word.includes("{}"));
  // Checked before the recursion, because a line may nest thousands of these commands.
  if (end <= at || !isPlain) return undefined;
  // With `+`, the program gets several files: uniq and xxd write the second one.
  const reading = readingOf(args[end] === "+" ? [...words, "{}"] : words);
  // The other allowed paths are `{}` with an ending that the program adds.
  return reading?.paths.every((path) => path.startsWith("{}")) === true ? end : undefined;
}

/** Returns the harmless options of a program that only reads with them; undefined for every other program. */
export function optionsOfReader(name: string): Options | undefined {
  return READERS.get(name)?.options;
}
