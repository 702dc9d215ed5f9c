import { isHarmlessCode } from "./harmless-code.ts";
import { options, type Reading, readOptions } from "./options.ts";
import { codesIn } from "./runners.ts";

const NOTHING: Reading = { paths: [], contents: false };

type Reads = (args: readonly string[]) => Reading | undefined;

/**
 * Programs that read with some of their words only. Source: the manuals of GNU sed, gawk, tar, procps, Info-ZIP, xxd and npm, and of
 * the same programs on macOS.
 */
export const SPECIAL_READERS: Readonly<Record<string, Reads>> = {
  sed: readSed,
  gsed: readSed,
  awk: readAwk,
  gawk: readAwk,
  mawk: readAwk,
  nawk: readAwk,
  ps: readPs,
  tar: readTar,
  unzip: readUnzip,
  npm: readNpm,
  xxd: readXxd,
  // On macOS, an operand is a program that runs.
  arch: (args) => (args.length === 0 ? NOTHING : undefined),
  // An operand sets the name.
  hostname: (args) => (args.every((word) => /^-[fsiIdA]+$/.test(word)) ? NOTHING : undefined),
  umask: (args) => (args.length === 0 || args.join(" ") === "-S" ? NOTHING : undefined),
  ulimit: (args) => (/^-[HS]?a$/.test(args.join(" ")) ? NOTHING : undefined),
  set: (args) => (SHELL_OPTIONS.test(args.join(" ")) ? NOTHING : undefined),
  // Other variables may hold secrets.
  printenv: (args) =>
    args.length > 0 && args.every((word) => SHOWN_VARIABLE.test(word)) ? NOTHING : undefined,
};

/** `set -euo pipefail`. */
const SHELL_OPTIONS = /^(?:[-+](?:[efuvx]+|[efuvx]*o (?:pipefail|errexit|nounset|xtrace|verbose))(?: |$))+$/;

/** Variables whose value is not a secret. */
const SHOWN_VARIABLE =
  /^(?:HOME|PWD|OLDPWD|USER|LOGNAME|SHELL|PATH|LANG|LC_[A-Z]+|TERM|TZ|TMPDIR|EDITOR|HOSTNAME|NODE_ENV|VIRTUAL_ENV|XDG_[A-Z]+_(?:HOME|DIR))$/;

/** `$?` and such variables in a word, which `echo` may print. zsh runs the text in brackets after a name. */
const SHOWN_EXPANSION = /\$(?:\?|([A-Z_]+)|\{([A-Z_]+)\})(?![\w[])/g;

/** Returns a word of `echo` with its harmless variables replaced by plain text; other variables stay. */
export function withoutShownVariables(text: string): string {
  return text.replace(SHOWN_EXPANSION, (whole, bare?: string, braced?: string) => {
    const name = bare ?? braced;
    return name === undefined || SHOWN_VARIABLE.test(name) ? "x" : whole;
  });
}

const reads = (paths: readonly string[]): Reading => ({ paths, contents: true });

function isName(word: string): boolean {
  return !word.startsWith("-");
}

/**
 * Accepts sed with scripts that only edit the printed text. `-i` changes files, and `-f` reads a script. On macOS, sed reads no
 * option after an operand: then the first operand is the script, and each later word is a file.
 */
function readSed(args: readonly string[]): Reading | undefined {
  const { operands, unknown, values, late } = readOptions(args, SED);
  if (unknown.length > 0 || late.some((word) => GIVES_SCRIPT.test(word))) return undefined;
  const scripts = values.length > 0 ? values.map(({ value }) => value) : operands.slice(0, 1);
  const paths = values.length > 0 ? operands : operands.slice(1);
  return scripts.every((script) => isHarmlessCode("sed", script)) ? reads([...paths, ...late]) : undefined;
}

const SED = options("nErsuz|||e quiet silent regexp-extended null-data separate unbuffered expression==");
const GIVES_SCRIPT = /^(?:-[nErsuz]*e|--expression)/;

/** Accepts awk code that only prints. Other options load, write or profile code. awk reads each word after the code as a file. */
function readAwk(args: readonly string[]): Reading | undefined {
  const { operands, unknown, late } = readOptions(args, AWK);
  const [code = "", ...paths] = operands;
  const isPlain = unknown.length === 0 && !READS_MORE.test(code) && isHarmlessCode("awk", code);
  return isPlain ? reads([...paths, ...late]) : undefined;
}

const AWK = options("|||Fv");
/** Names by which awk's programs see the environment, or read other files. */
const READS_MORE = /ENVIRON|ARG[VC]|PROCINFO|SYMTAB|FUNCTAB/;

/** Columns of ps that do not show variables. */
const PS_COLUMNS =
  /^(?:(?:p?pid|pgid|sid|u?user|[re]?uid|ucomm|comm|args|cmd|command|stat|state|time|etimes?|l?start|tty?|tt|[p%]cpu|[p%]mem|rss|vsz|ni|nice|pri|nlwp)=?(?:,|$))+$/;

/**
 * Accepts only the usual forms of ps, word for word: `e` among its letters shows variables, even after an error in another word. Linux and
 * macOS show command lines to every user.
 */
function readPs(args: readonly string[]): Reading | undefined {
  const [first = ""] = args;
  const isForm = /^(?:aux|axu?|auxw{1,2}|x|u|ux|-e|-A|-f|-ef|-eF|-ax|-aux)$/.test(first);
  const rest = isForm ? args.slice(1) : args;
  for (let at = 0; at < rest.length; at += 1) {
    const word = rest[at] ?? "";
    if (/^--sort=-?[a-z%]+$/.test(word) && PS_COLUMNS.test(word.replace(/^--sort=-?/, ""))) continue;
    if (!/^(?:-p|-o|-eo|axo)$/.test(word)) return undefined;
    at += 1;
    const isKnown = word === "-p" ? /^\d+(?:,\d+)*$/.test(rest[at] ?? "") : PS_COLUMNS.test(rest[at] ?? "");
    if (!isKnown) return undefined;
  }
  return NOTHING;
}

/** Accepts `tar tf a.tar`. A name with a colon is a file on another machine. */
function readTar([letters = "", ...names]: readonly string[]): Reading | undefined {
  const lists = /^-?(?=[a-zA-Z]*t)[tvzjJ]+f$/.test(letters);
  return lists && names.length > 0 && names.every((name) => isName(name) && !name.includes(":"))
    ? reads(names.slice(0, 1))
    : undefined;
}

/** Accepts `unzip -l a`. unzip itself expands patterns in the name of the archive. */
function readUnzip([option, archive = "", ...members]: readonly string[]): Reading | undefined {
  const isPlain = option === "-l" && !/[*?[]/.test(archive) && [archive, ...members].every(isName);
  return isPlain ? reads([...withEndings("unzip", [archive]), ...members]) : undefined;
}

/** The endings that a program adds to the name of a file that does not exist. */
const ENDINGS: Readonly<Record<string, readonly string[]>> = {
  zcat: [".gz", ".z", "-z", ".Z"],
  unzip: [".zip", ".ZIP"],
};

/** Returns the names of the files that a program may read if its words have these names. */
export function withEndings(name: string, paths: readonly string[]): readonly string[] {
  const endings = Object.hasOwn(ENDINGS, name) ? ENDINGS[name] : undefined;
  return endings === undefined ? paths : paths.flatMap((path) => [path, ...endings.map((end) => path + end)]);
}

/** Accepts xxd with one file: it writes a second one. */
function readXxd(args: readonly string[]): Reading | undefined {
  const files = filesOfXxd(args);
  const others = args.slice(0, args.length - files.length);
  const isPlain = others.every((word) =>
    /^(?:-(?:[abCeEiup]|ps|plain|[cglos](?:0x[\da-f]+|\d*))|[-+]?(?:0x[\da-f]+|\d+))$/.test(word),
  );
  return isPlain && files.length < 2 ? reads(files) : undefined;
}

/** Returns the words of a command that are code of awk or sed which may run a program or write a file. */
export function harmfulCode(words: readonly string[]): readonly string[] {
  return codesIn(words)
    .codes.filter(
      ({ language, code }) => (language === "awk" || language === "sed") && !isHarmlessCode(language, code),
    )
    .map(({ code }) => code);
}

/**
 * Returns the files in the words of xxd: it reads one option in each word by its first letters (`-ac` is `-a`), and none after the
 * first operand.
 */
export function filesOfXxd(args: readonly string[]): readonly string[] {
  let at = 0;
  while (/^-./.test(args[at] ?? "") && args[at] !== "--") at += /^-[cglos]$/.test(args[at] ?? "") ? 2 : 1;
  return args.slice(at);
}

/** Returns the words of tree with letters after an option whose value is in the next word: `tree -Po '*.c' x` writes x. */
export function mixedInTree(args: readonly string[]): readonly string[] {
  return args.filter((word) => /^-(?!-)\w*[LIP](?!\d*$)/.test(word));
}

/** Returns whether words mean more than the tables know: a file of options, `--` as a value, or mixed options of tree. */
export function meansMore(name: string, args: readonly string[]): boolean {
  if (name === "strings") return args.some((word) => word.startsWith("@"));
  // `jq --arg a -- -f x` reads x: the first `--` is a value.
  if (name === "jq") return args.includes("--");
  return name === "tree" && mixedInTree(args).length > 0;
}

/** Accepts npm's lists of installed packages and of scripts. A project's `.npmrc` can set where npm writes its log. */
function readNpm([name = "", ...args]: readonly string[]): Reading | undefined {
  if (/^(?:--version|-v)$/.test(name) && args.length === 0) return NOTHING;
  const isList = /^(?:ls|list|ll|la)$/.test(name);
  const lists = isList || (/^(?:run|run-script|root|prefix)$/.test(name) && args.length === 0);
  if (!lists || readOptions(args, NPM_LIST).unknown.length > 0) return undefined;
  return { paths: [], contents: false, obeys: [".npmrc"] };
}

const NPM_LIST = options("alp all json long parseable depth= omit= include= package-lock-only");

/**
 * Words by which a program only prints its version. Missing are java, which writes a file, and programs that a project can replace
 * (cargo, yarn, go).
 */
const VERSION: Readonly<Record<string, RegExp>> = {
  ...Object.fromEntries(
    "gcc g++ cc clang cmake make docker bash zsh perl ruby pip pip3 deno rg jq curl psql sqlite3 gh ninja"
      .split(" ")
      .map((name) => [name, /^--version$/]),
  ),
  node: /^(?:--version|-v)$/,
  python: /^(?:--version|-V)$/,
  python3: /^(?:--version|-V)$/,
  tmux: /^-V$/,
  perl: /^(?:--version|-v)$/,
};

/** Returns whether a command only prints the version of its program. */
export function printsVersion([name = "", ...args]: readonly string[]): boolean {
  const known = Object.hasOwn(VERSION, name) ? VERSION[name] : undefined;
  return args.length === 1 && known?.test(args[0] ?? "") === true;
}
