import { readGit } from "./git-readers.ts";
import { type Options, options, type Reading, readOptions } from "./options.ts";

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
  join: "i|12aejotv ignore-case",
  cut: "nsz|bcdf bytes= characters= complement delimiter= fields= only-delimited output-delimiter=",
  cmp: "bls|n bytes= print-bytes quiet silent verbose",
  diff: "abBcdeinNpqrstTuwWyZ|CUxI brief context[=] unified[=] recursive report-identical-files ignore-all-space ignore-blank-lines ignore-case ignore-space-change ignore-trailing-space new-file side-by-side text color[=] exclude= minimal strip-trailing-cr suppress-common-lines width= show-c-function",
  od: "bcdefhilosvx|ANStwj address-radix= format= read-bytes= skip-bytes= width[=]",
  hexdump: "bcCdovx|nse",
  strings: "afo|nte all bytes= radix=",
  sort: "bcCdfghimMnrRsuVz|kt numeric-sort reverse key= field-separator= unique ignore-case ignore-leading-blanks general-numeric-sort human-numeric-sort version-sort month-sort dictionary-order random-sort stable check[=] merge zero-terminated",
  md5sum: "btz binary text zero tag",
  sha1sum: "btz binary text zero tag",
  sha256sum: "btz binary text zero tag",
  sha512sum: "btz binary text zero tag",
  cksum: "-",
});

/** Programs that show names and properties of the files in their operands. */
const NAMES = table("paths", false, {
  ls: "1aAbBcCdfFghGiklLmnNopqQrRsStuUvxXZ|ITw all almost-all classify[=] color[=] directory dereference full-time group-directories-first hide= human-readable ignore= ignore-backups indicator-style= inode literal no-group numeric-uid-gid quote-name recursive reverse si size sort= time= time-style= width= zero",
  stat: "LtfxnF|c format= printf= terse dereference file-system",
  du: "abchHkLmsSx0|dBt all apparent-size bytes block-size= exclude= human-readable max-depth= one-file-system summarize total si threshold=",
  df: "ahHiklPT|Btx all block-size= human-readable inodes local output[=] portability print-type si total type=",
  file: "bhiI brief mime mime-type mime-encoding no-dereference",
  tree: "adfghpsuDFirtvUcCnNqQAJX|LIP dirsfirst filesfirst noreport charset= filelimit= du si gitignore prune sort= matchdirs ignore-case inodes device timefmt=",
  readlink: "efmnqsvz canonicalize canonicalize-existing canonicalize-missing no-newline quiet silent zero",
  realpath:
    "emLPqsz canonicalize-existing canonicalize-missing logical physical quiet strip no-symlinks zero",
});

/** Programs whose operands are no files. */
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
  arch: "-",
  uptime: "ps pretty since",
  tr: "cCdst complement delete squeeze-repeats truncate-set1",
});

/** Programs whose first operand is a pattern, and the others files. */
const PATTERN_FIRST = table("after-first", true, {
  grep: "#abcEFGHhiIlLnoPqrsTvwxyzZ|ABCem after-context= before-context= context= basic-regexp extended-regexp fixed-strings perl-regexp regexp= binary-files= byte-offset color[=] colour[=] count exclude= exclude-dir= files-with-matches files-without-match ignore-case include= initial-tab invert-match line-number line-regexp max-count= no-filename with-filename no-messages null null-data only-matching quiet silent recursive text word-regexp line-buffered",
  rg: "0FHIPNUachilnopqsSuvwx.|ABCEegtTmMrd after-context= before-context= context= case-sensitive color= column count count-matches crlf encoding= files files-with-matches files-without-match fixed-strings glob= iglob= glob-case-insensitive heading no-heading hidden ignore-case invert-match json line-number no-line-number line-regexp max-columns= max-count= max-depth= max-filesize= multiline multiline-dotall no-config no-filename with-filename no-ignore no-ignore-vcs no-messages null only-matching passthru pcre2 quiet regexp= replace= smart-case sort= sortr= stats text threads= trim type= type-list type-not= unrestricted vimgrep word-regexp",
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
]);

/**
 * Programs that only read, with the options that keep it so. Source: the manuals of GNU coreutils, grep, diffutils, findutils,
 * util-linux, file, tree, ripgrep and jq, and of the same programs on macOS. Every other option, also an abbreviated one,
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

/** Commands that print their words, test files, or do nothing, with any words. */
const ALWAYS_HARMLESS: ReadonlySet<string> = new Set(["echo", "true", "false", ":"]);

/**
 * Returns what a command reads if it does nothing else; undefined if it may write, run a program, or is unknown.
 * @param words the program and its words, without quotes
 */
export function readingOf(words: readonly string[]): Reading | undefined {
  const [name = "", ...args] = words;
  if (ALWAYS_HARMLESS.has(name)) return NOTHING;
  const special = Object.hasOwn(SPECIAL, name) ? SPECIAL[name] : undefined;
  if (special !== undefined) return special(args);
  const reader = READERS.get(name);
  if (reader === undefined) return undefined;
  const { operands, used, unknown } = readOptions(args, reader.options);
  if (unknown.length > 0) return undefined;
  if (reader.operands === "text") return NOTHING;
  if (reader.operands === "at-most-one" && operands.length > 1) return undefined;
  const { contents } = reader;
  if (reader.operands !== "after-first") {
    const tree = name === "diff" && (used.has("-r") || used.has("--recursive"));
    return { paths: operands, contents, tree };
  }
  const hasPattern = ["-e", "--regexp", "--files"].some((option) => used.has(option));
  const paths = hasPattern ? operands : operands.slice(1);
  // jq's filters can print the environment, which may hold secrets, and load modules.
  if (name === "jq" && READS_ENVIRONMENT.test(args.join(" "))) return undefined;
  const tree = name === "rg" || used.has("-r") || used.has("--recursive");
  return { paths, contents, tree: name !== "jq" && tree };
}

const READS_ENVIRONMENT = /\benv\b|\$ENV|\b(?:import|include|input_filename)\b|\$__/;

const SPECIAL: Readonly<Record<string, (args: readonly string[]) => Reading | undefined>> = {
  git: readGit,
  find: readFind,
  // `-v x` sets a variable.
  printf: ([format = ""]) => (format.startsWith("-") ? undefined : NOTHING),
  // An operand without `+` sets the clock.
  date: (args) => {
    const { operands, unknown } = readOptions(args, DATE);
    return unknown.length > 0 || operands.some((word) => !word.startsWith("+")) ? undefined : NOTHING;
  },
  command: ([option, ...names]) => (/^-[vV]$/.test(option ?? "") && names.length > 0 ? NOTHING : undefined),
  test: readTest,
  "[": readTest,
};

const DATE = options("Ru|dI date= iso-8601[=] rfc-email rfc-3339= utc universal");

/** `test` shows whether files exist; its other words are text. */
function readTest(args: readonly string[]): Reading | undefined {
  return args.some((word) => word.includes("["))
    ? undefined
    : { paths: args.filter((word) => word.includes("/")), contents: false };
}

/** Tests and actions of find that neither write nor run anything. Source: findutils' and BSD's manuals. */
const FIND_WITHOUT_VALUE = new Set(
  "-H -P ! ( ) , -a -and -o -or -not -depth -d -daystart -empty -executable -false -true -ls -mount -xdev -x -nogroup -nouser -print -print0 -prune -quit -readable -writable -warn -nowarn -noleaf".split(
    " ",
  ),
);
const FIND_WITH_VALUE = new Set(
  "-amin -atime -cmin -ctime -mmin -mtime -fstype -gid -group -inum -iname -name -ipath -path -iwholename -wholename -iregex -regex -regextype -links -maxdepth -mindepth -perm -printf -size -type -xtype -uid -used -user".split(
    " ",
  ),
);

function readFind(args: readonly string[]): Reading | undefined {
  const paths: string[] = [];
  let isExpression = false;
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at] ?? "";
    isExpression ||= word.startsWith("-") ? !/^-[HP]$/.test(word) : /^[!(),]$/.test(word);
    if (!isExpression && !word.startsWith("-")) paths.push(word);
    else if (FIND_WITH_VALUE.has(word)) at += 1;
    else if (!FIND_WITHOUT_VALUE.has(word)) return undefined;
  }
  return { paths, contents: false };
}

/** Returns the harmless options of a program that only reads with them; undefined for every other program. */
export function optionsOfReader(name: string): Options | undefined {
  return READERS.get(name)?.options;
}
