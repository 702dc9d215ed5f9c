import { gitOptions } from "./git-readers.ts";
import { type Options, readOptions } from "./options.ts";
import { optionsOfReader } from "./readers.ts";
import { harmfulCode } from "./runners.ts";

/**
 * Words that make a program run another program, or write a file that it would not write otherwise. Source: the programs'
 * manuals. They complete the tables of options that only read.
 */
const RISKY: Readonly<Record<string, RegExp>> = {
  sed: /^(?:-[a-zA-Z]*[if]|--in-place|--file)/,
  awk: /^(?:-[filE]|--(?:file|include|load|exec|inplace))/,
  tar: /^--(?:checkpoint-action|to-command|use-compress-program|rsh-command|info-script|new-volume-script|rmt-command|absolute-names|one-top-level)|^-[A-Za-z]*[IFP]/,
  man: /^(?:-[A-Za-z]*[PHC]|--(?:pager|html|config-file|preprocessor))/,
  ssh: /^-[A-Za-z]*[oFE]|^-w$/,
  scp: /^-[A-Za-z]*[oFSD]/,
  sftp: /^-[A-Za-z]*[oFSDb]/,
  rsync:
    /^(?:-[a-zA-Z]*[eM]|--(?:rsh|rsync-path|remote-option|daemon|config|log-file|write-batch|only-write-batch))/,
  vim: /^(?:-[cSsuUwWi]|--cmd|\+)/,
  curl: /^(?:-[a-zA-Z#]*[oOKcDT]|--(?:output|output-dir|remote-name|remote-name-all|config|cookie-jar|dump-header|trace|trace-ascii|stderr|upload-file|libcurl|etag-save|hsts|alt-svc|engine|unix-socket))/,
  wget: /^(?:-[a-zA-Z]*[OPaoie]|--(?:output-document|output-file|append-output|directory-prefix|execute|use-askpass|config|post-file|input-file|save-cookies|warc-file))/,
  less: /^(?:-[a-zA-Z]*[koO]|\+|--(?:log-file|LOG-FILE|lesskey))/,
  xargs: /^--process-slot-var/,
  zip: /^(?:-[a-zA-Z]*T+T|--unzip-command|-TT)/,
  cp: /^(?:-[a-zA-Z]*S|--suffix)/,
  install: /^(?:-[a-zA-Z]*S|--(?:suffix|strip-program))/,
  make: /^(?:-[a-zA-Z]*[fCIE]|--(?:file|makefile|directory|eval|include-dir))|^(?:SHELL|MAKEFLAGS|\.SHELLFLAGS)[:+?]?=/,
  pytest:
    /^(?:-[a-zA-Z]*[pc]|--(?:rootdir|confcutdir|config-file|import-mode|basetemp|junitxml|junit-xml|log-file|resultlog|debug))/,
};

const SAME_AS: Readonly<Record<string, string>> = {
  gawk: "awk",
  mawk: "awk",
  nawk: "awk",
  gsed: "sed",
  gtar: "tar",
  bsdtar: "tar",
  vi: "vim",
  nvim: "vim",
  view: "vim",
  ex: "vim",
  gmake: "make",
  mv: "cp",
  ln: "cp",
};

/** Options of git's subcommands that run a program, or write where they are told. Source: git's manual pages. */
const RISKY_GIT =
  /^(?:--(?:output|ext-diff|open-files-in-pager|exec|upload-pack|receive-pack|exec-path|config|config-env|template|separate-git-dir|git-dir|work-tree|namespace|textconv|filters|paginate|hooks-path|strategy|smtp-server|sendmail-cmd|to-cmd|cc-cmd|gpg-sign|show-signature|bare|edit-description|extcmd|tool)(?:=|$)|-O|-c$)/;
const RISKY_BEFORE_SUBCOMMAND =
  /^(?:-c|-C|-p|--exec-path|--git-dir|--work-tree|--namespace|--config-env|--paginate|--super-prefix|--bare|--attr-source)/;
/** Subcommands that set what git runs, or run their words. */
const RISKY_SUBCOMMAND =
  /^(?:config|bisect|filter-branch|filter-repo|for-each-repo|difftool|mergetool|daemon|instaweb|send-email|hook|maintenance|credential)$/;

/**
 * Returns the words of a command that an allow rule must name itself: they run a program or write a file that the rule's author
 * may not have thought of. A word that is an unknown option of a program in the tables counts too.
 */
export function riskyWords(words: readonly string[]): readonly string[] {
  const [name = "", ...args] = words;
  if (name === "git") return riskyInGit(args);
  const regular = RISKY[SAME_AS[name] ?? name];
  if (regular !== undefined && Object.hasOwn(RISKY, SAME_AS[name] ?? name))
    return [...args.filter((word) => regular.test(word)), ...harmfulCode(words)];
  if (name === "find") return args.filter((word) => /^-(?:exec|ok|delete|fprint|fls|files0-from)/.test(word));
  if (name === "date") return args.filter((word) => /^(?:-[a-zA-Z]*[sf]|--(?:set|file)|\d)/.test(word));
  if (name === "fd" || name === "fdfind")
    return args.filter((word) => /^(?:-[a-zA-Z]*[xX]|--exec)/.test(word));
  if (name === "uniq") {
    const known = optionsOfReader(name);
    return known === undefined
      ? []
      : [...readOptions(args, known).unknown, ...readOptions(args, known).operands.slice(1)];
  }
  const known = optionsOfReader(name);
  return known === undefined ? [] : unknownOptions(args, known);
}

function unknownOptions(args: readonly string[], known: Options): readonly string[] {
  return readOptions(args, known).unknown;
}

function riskyInGit(args: readonly string[]): readonly string[] {
  const at = args.findIndex(
    (word, i) =>
      !word.startsWith("-") &&
      !/^(?:-[cC]|--(?:git-dir|work-tree|namespace|exec-path|config-env))$/.test(args[i - 1] ?? ""),
  );
  const global = args.slice(0, at < 0 ? args.length : at);
  const before = global.filter((word) => RISKY_BEFORE_SUBCOMMAND.test(word));
  if (at < 0) return before;
  const name = args[at] ?? "";
  const after = args.slice(at + 1);
  const known = gitOptions(name);
  const isOption = (word: string): boolean => RISKY_GIT.test(word) && !(word === "-c" && name !== "clone");
  const risky = known === undefined ? after.filter(isOption) : readOptions(after, known).unknown;
  // An abbreviation of a long option: `--outp=x`.
  const short = after.filter(
    (word) => /^--(?:out|ext|open|exe|upl|rece|textc|fil)/.test(word) && RISKY_ABBREVIATION.test(word),
  );
  return [...before, ...(RISKY_SUBCOMMAND.test(name) ? [name] : []), ...new Set([...risky, ...short])];
}

const RISKY_ABBREVIATION =
  /^--(?:outp?u?t?|ext(?:-d?i?f?f?|c?m?d?)?|open[\w-]*|exec?|upl[\w-]*|rece[\w-]*|textc[\w]*)(?:=|$)/;

/** Returns whether the words of a rule name a risky word: the same word, or the option before its value. */
export function namesWord(named: readonly string[], word: string): boolean {
  const option = /^(--[\w-]+)=/.exec(word)?.[1] ?? word;
  const short = /^-\w./.test(word) ? word.slice(0, 2) : word;
  return named.some((one) => one === word || one === short || one.split("=")[0] === option);
}
