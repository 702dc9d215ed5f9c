import { type Options, options, type Reading, type ReadOptions, readOptions } from "./options.ts";

/** Options of git before the subcommand that change neither the repository nor its configuration. */
const GLOBAL: ReadonlySet<string> = new Set([
  "--no-pager",
  "-P",
  "--no-optional-locks",
  "--literal-pathspecs",
  "--icase-pathspecs",
]);

/** Options of git's log and diff commands that run nothing and write nothing. */
const LOG = `#abBcEFgimMPpqrsuwWzCD|nSGL|Ul
  all patch no-patch stat[=] shortstat numstat dirstat[=] name-only name-status summary compact-summary oneline graph
  decorate[=] no-decorate format= pretty[=] abbrev[=] abbrev-commit no-abbrev no-abbrev-commit date= relative-date since=
  until= after= before= author= committer= grep= all-match invert-grep regexp-ignore-case extended-regexp fixed-strings
  perl-regexp max-count= skip= reverse first-parent merges no-merges min-parents= max-parents= follow topo-order date-order
  author-date-order cached staged color[=] no-color word-diff[=] word-diff-regex= color-words[=] color-moved[=]
  ignore-all-space ignore-space-change ignore-space-at-eol ignore-blank-lines ignore-cr-at-eol unified[=] inter-hunk-context=
  function-context diff-filter= find-renames[=] find-copies[=] find-copies-harder no-renames no-ext-diff no-textconv
  exit-code quiet raw merge-base left-right left-only right-only cherry cherry-pick cherry-mark branches[=] tags[=]
  remotes[=] glob= exclude= source full-history simplify-by-decoration simplify-merges ancestry-path[=] sparse dense
  boundary children parents relative[=] no-relative text binary full-index patch-with-stat minimal patience histogram
  diff-algorithm= ignore-submodules[=] no-prefix src-prefix= dst-prefix= pickaxe-all pickaxe-regex notes[=] no-notes
  walk-reflogs no-walk[=] do-walk cc remerge-diff no-mailmap mailmap clear-decorations no-expand-tabs check check
  count timestamp no-commit-header not summary numbered email group=`;

/** Keys of git's configuration whose value is not a secret. `git remote -v` shows the URLs of remotes, too. */
const SHOWN_KEY =
  /^(?:user|core|branch|remote|init|pull|push|merge|rebase|fetch|diff|log|color|commit|tag|status|alias|gpg|submodule|extensions)\.[^\s]+$/i;

interface Subcommand {
  readonly options: ReturnType<typeof options>;
  readonly git: "objects" | "worktree";
  readonly contents: boolean;
  /** Returns whether its operands keep it from writing. */
  readonly accepts?: (operands: readonly string[], used: ReadonlySet<string>, first: string) => boolean;
}

const reads = (
  row: string,
  git: Subcommand["git"] = "objects",
  contents = true,
  accepts?: Subcommand["accepts"],
): Subcommand => ({ options: options(row), git, contents, ...(accepts && { accepts }) });

/** Options that make `git branch` and `git tag` list. `git branch -l x` creates a branch in git before 2.19. */
const LISTS = ["--list", "--contains", "--no-contains", "--merged", "--no-merged", "--points-at"];
const isList =
  (...more: readonly string[]) =>
  (operands: readonly string[], used: ReadonlySet<string>): boolean =>
    operands.length === 0 || [...LISTS, ...more].some((option) => used.has(option));
/** An option before its subcommand makes `git stash` save the changes of that path. */
const isFirst =
  (...names: readonly string[]): Subcommand["accepts"] =>
  (_operands, _used, first) =>
    names.includes(first);

/**
 * Subcommands of git that only read. Source: git's manual pages. `--ext-diff`, `--textconv`, `--show-signature`, `--output`,
 * `-O` and `--no-index` are not listed: they run programs, write, or leave the repository. So may an option whose value is a file.
 */
const SUBCOMMANDS: Readonly<Record<string, Subcommand>> = {
  log: reads(LOG),
  show: reads(LOG),
  whatchanged: reads(LOG),
  shortlog: reads(`ens${LOG}`),
  diff: reads(LOG, "worktree"),
  "diff-tree": reads(`rt${LOG} no-commit-id root`),
  reflog: reads(
    LOG,
    "objects",
    true,
    // A pattern may match a file of that name.
    ([first = ""]) => !/^(?:expire|delete|drop|write)$|[*?[]/.test(first),
  ),
  "rev-list": reads(LOG),
  status: reads(
    "bsvz||u short branch show-stash porcelain[=] long verbose untracked-files[=] ignore-submodules[=] ignored[=] column[=] no-column ahead-behind no-ahead-behind renames no-renames find-renames[=]",
    "worktree",
    false,
  ),
  blame: reads(
    "bcefklnpstwMC|L root show-stats reverse porcelain line-porcelain incremental date= minimal show-name show-number show-email abbrev[=] color-lines color-by-age ignore-rev=",
    "worktree",
  ),
  "ls-files": reads(
    "cdikmorstuvz|x cached deleted modified others ignored stage unmerged killed exclude= exclude-standard full-name error-unmatch abbrev[=] eol deduplicate",
    "worktree",
    false,
  ),
  "ls-tree": reads("dlrtz long name-only name-status object-only full-name full-tree abbrev[=] format="),
  "cat-file": reads("epst", "objects"),
  "rev-parse": reads(
    "q verify quiet short[=] abbrev-ref[=] symbolic symbolic-full-name all branches[=] tags[=] remotes[=] show-toplevel show-prefix show-cdup show-superproject-working-tree git-dir git-common-dir absolute-git-dir is-inside-work-tree is-inside-git-dir is-bare-repository is-shallow-repository",
    "objects",
    false,
  ),
  "merge-base": reads("a all is-ancestor fork-point octopus independent", "objects", false),
  "name-rev": reads("tags refs= exclude= all name-only always", "objects", false),
  describe: reads(
    "all tags contains abbrev[=] candidates= exact-match long match= exclude= always first-parent",
    "objects",
    false,
  ),
  "for-each-ref": reads(
    "- count= sort= format= points-at= merged[=] no-merged[=] contains[=] no-contains[=] ignore-case",
    "objects",
    false,
  ),
  "show-ref": reads(
    "dhqs head heads tags branches dereference hash[=] verify abbrev[=] quiet",
    "objects",
    false,
  ),
  "count-objects": reads("vH verbose human-readable", "objects", false),
  branch: reads(
    "alrvq list all remotes verbose show-current contains[=] no-contains[=] merged[=] no-merged[=] sort= format= points-at= color[=] no-color column[=] no-column abbrev[=] no-abbrev ignore-case",
    "objects",
    false,
    isList(),
  ),
  tag: reads(
    "l||n list sort= format= contains[=] no-contains[=] merged[=] no-merged[=] points-at= column[=] no-column ignore-case color[=]",
    "objects",
    false,
    isList("-l"),
  ),
  remote: reads(
    "v verbose all push",
    "objects",
    false,
    (operands) => operands.length === 0 || operands[0] === "get-url",
  ),
  stash: reads(LOG, "objects", true, isFirst("list", "show")),
  worktree: reads("vz verbose porcelain", "objects", false, isFirst("list")),
  "check-ignore": reads("vnz quiet verbose non-matching no-index", "objects", false),
  grep: reads(
    "#nlLciIvwEFGPhHozqpWar|ABCm||e line-number count files-with-matches name-only files-without-match ignore-case invert-match word-regexp extended-regexp fixed-strings perl-regexp basic-regexp cached untracked exclude-standard heading break show-function function-context after-context= before-context= context= all-match and or not color[=] no-color text max-depth= full-name null only-matching quiet column max-count= threads=",
    "worktree",
  ),
  cherry: reads("v verbose abbrev[=]", "objects", false),
  "symbolic-ref": reads("q quiet short", "objects", false, (operands) => operands.length === 1),
  "show-branch": reads("ar all remotes current list topo-order date-order", "objects", false),
  "range-diff": reads(LOG),
  // Other keys may hold secrets, and a second operand sets a value.
  config: reads(
    "- get get-all local global null show-origin show-scope",
    "objects",
    false,
    (operands) => operands.length === 1 && SHOWN_KEY.test(operands[0] ?? ""),
  ),
  version: reads("- build-options", "objects", false),
};

/** Placeholders of formats that run gpg, or the program of `gpg.program`. */
const CHECKS_SIGNATURE = /%[-+ ]?G|%\([^)]*signature/;
/** A sort key that does the same. */
const SORTS_BY_SIGNATURE = /^[-*]*signature/;
/** Options whose value is a format or a sort key. */
const FORMAT_OPTION = /^--(?:format|pretty|sort|group)(?:=(?<value>.*))?$/s;

/** Returns the words of a git command's options that check signatures. @param args the words after the subcommand */
export function signatureWords(args: readonly string[]): readonly string[] {
  return args.filter((word, at) => {
    const value = FORMAT_OPTION.exec(word)?.groups?.value;
    const isValue = FORMAT_OPTION.test(args[at - 1] ?? "");
    if (value === undefined && !isValue) return false;
    return CHECKS_SIGNATURE.test(value ?? word) || SORTS_BY_SIGNATURE.test(value ?? word);
  });
}

/** Returns the paths that a git command reads if it does nothing else. @param args the words after `git` */
export function readGit(args: readonly string[]): Reading | undefined {
  const at = args.findIndex((word) => !GLOBAL.has(word));
  const name = args[at] ?? "";
  if (name === "--version") return { paths: [], contents: false };
  const subcommand = Object.hasOwn(SUBCOMMANDS, name) ? SUBCOMMANDS[name] : undefined;
  if (subcommand === undefined) return undefined;
  const words = args.slice(at + 1);
  const { operands, used, unknown, values } = readOptions(words, subcommand.options);
  if (unknown.length > 0 || subcommand.accepts?.(operands, used, words[0] ?? "") === false) return undefined;
  if (signatureWords(words).length > 0 || words.some((word) => CHECKS_SIGNATURE.test(word))) return undefined;
  const { git, contents } = subcommand;
  // A revision is not a path, but a word that leads outside may be one: git then compares two files.
  return { paths: [...operands, ...values.flatMap(fileOfLines)], contents, tree: contents, git };
}

/** `git log -L 1,5:a` shows lines of a file. */
function fileOfLines({ option, value }: ReadOptions["values"][number]): string[] {
  return option === "-L" && value.includes(":") ? [value.slice(value.lastIndexOf(":") + 1)] : [];
}

/** Returns the options with which a subcommand only reads; undefined for a subcommand that never only reads. */
export function gitOptions(name: string): Options | undefined {
  return Object.hasOwn(SUBCOMMANDS, name) ? SUBCOMMANDS[name]?.options : undefined;
}
