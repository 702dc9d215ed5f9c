import { commandsNamed } from "../commands/command-starts.ts";
import { UNKNOWN } from "../commands/pattern-meetings.ts";
import { riskyWords } from "../commands/risky-options.ts";
import { baseName } from "../commands/runners.ts";
import { gitSubcommandAt } from "../commands/tables/subcommand-names.ts";
import type { LineParts } from "../syntax/parts.ts";

/** Options of npm, before its subcommand, whose value is the next word. */
const NPM_VALUE = "(?:--(?:location|prefix|userconfig|globalconfig|loglevel|registry)|-[wCL])";
const OF_FISH = "the functions or variables of fish";

/**
 * Commands that change a file or a setting from which commands run later, and whose words need not name it. Each row has the
 * program, the words after it, and what it changes. Source: the manuals of the programs.
 */
const CHANGES: readonly (readonly [program: RegExp, words: RegExp, changed: string])[] = [
  [/^crontab$/, /^(?!.*-l(?: |$)|--help$|-V$)/, "the user's timetable"],
  [
    /^(?:at|batch)$/,
    /^(?:$|-[fmM]|now|noon|midnight|teatime|today|tomorrow|next|\d)/,
    "the user's timetable",
  ],
  [
    /^systemctl$/,
    /(?:^| )(?:enable|reenable|link|edit|set-environment|import-environment|add-wants|add-requires)(?: |$)/,
    "the services of a session",
  ],
  [/^launchctl$/, /^(?:load|bootstrap|submit|enable|setenv|config)(?: |$)/, "the services of a session"],
  [/^loginctl$/, /^enable-linger/, "the services of a session"],
  [/^chsh$/, /./, "the login shell"],
  [
    /^(?:npm|pnpm|yarn)$/,
    new RegExp(
      `^(?:${NPM_VALUE} (?!-)\\S+ |-\\S+ )*(?:con\\w*|c|set)(?: set)? (?!get |ls|list)\\S+[ =]|^(?:con\\w*|c) (?:set|edit|fix)`,
    ),
    "the configuration of a package manager",
  ],
  [/^pip[\d.]*$/, /^config (?:--\S+ )*(?:set|edit)(?: |$)/, "the configuration of a package manager"],
  [/^(?:conda|mamba)$/, /^init(?: |$)/, "the startup files of shells"],
  [/^(?:husky|simple-git-hooks)$/, /^(?:(?:install|init|add|set)(?: |$)|$)/, "git's hooks"],
  [/^(?:pre-commit|lefthook)$/, /^(?:install|init|add)(?: |$)/, "git's hooks"],
  [
    /^(?:gh|glab)$/,
    /^(?:alias (?:set|import)|config set (?:-\S+ )*(?:pager|editor|browser)|ext(?:ensions?)? (?:install|upgrade|create)|auth setup-git)(?: |$)/,
    "its configuration or its extensions",
  ],
  [/^jj$/, /^config (?:set|edit)(?!.* user\.(?:name|email) )/, "its configuration"],
  [/^aws$/, /^configure set .*credential_process/, "its configuration"],
  [/^kubectl$/, /(?:^| )config set(?:-credentials)? /, "its configuration"],
  [/^(?:funcsave|fish_add_path)$/, /./, OF_FISH],
  [/^alias$/, /^(?:-s|--save)(?: |$)/, OF_FISH],
  [/^(?:set|abbr)$/, /^(?:-\S+ )*(?:-(?=[a-zA-Z]+(?: |$))[a-zA-Z]*?U|--universal(?: |$))/, OF_FISH],
  [
    /^(?:xdg-mime|xdg-settings|gsettings|defaults)$/,
    /^(?:default|set|write) /,
    "the settings of the desktop",
  ],
  [/^(?:code|codium|cursor)$/, /--install-extension/, "the extensions of an editor"],
  [
    /^(?:claude|gemini|codex|opencode|qwen)$/,
    /^(?:mcp|extensions?|plugins?) (?:add|install|link|enable|remove)|^config (?:set|add)/,
    "the configuration of another agent",
  ],
  [/^direnv$/, /^(?:allow|permit|grant)/, "the files that a shell runs in a directory"],
  [/^mise$/, /^(?:trust|settings (?:set|add)|set|use)(?: |$)/, "the files that a shell runs in a directory"],
];

const CHANGING = new RegExp(`^git$|${CHANGES.map(([program]) => program.source).join("|")}`);

/** Subcommands of git that always change its configuration or its hooks. */
const ALWAYS = /^(?:lfs (?:install|update)|maintenance (?:start|register))(?: |$)/;
/** Subcommands of git that may name a URL for which git runs a program. */
const NAMES_URL = /^(?:remote|submodule) (?:-\S+ )*(?:add|set-url) /;

/** Returns why a line may make commands run later, although it names no file that runs them; undefined if it does not. */
export function laterCommand(parts: LineParts): string | undefined {
  for (const [program = "", ...args] of parts.mentioned.flatMap((words) => commandsNamed(words, CHANGING))) {
    const name = baseName(program);
    const rest = args.join(" ");
    const changed =
      name === "git"
        ? changedByGit(args)
        : CHANGES.find(([known, words]) => known.test(name) && words.test(rest))?.[2];
    if (changed !== undefined) return `${name} may change ${changed}, so that commands run later.`;
  }
  return writesInGit(parts)
    ? "The command asks git for its directory, and only the shell knows which file the command writes there."
    : undefined;
}

/** Returns what a git command changes so that commands may run later. Keys and URLs that name no program are harmless. */
function changedByGit(args: readonly string[]): string | undefined {
  const at = gitSubcommandAt(args);
  const [name = "", ...rest] = at < 0 ? [] : args.slice(at);
  const text = [name, ...rest].join(" ");
  if (ALWAYS.test(text)) return "its configuration or its hooks";
  if (!(name === "config" ? setsKey(rest) : NAMES_URL.test(text))) return undefined;
  const own = rest[0] === "set" ? rest.slice(1) : rest;
  if (HARMLESS_VALUE.test(own.filter((word) => !word.startsWith("-")).join(" "))) return undefined;
  const risky = riskyWords(["git", name, ...own]).filter(
    ({ word }) => !/^--(?:global|system|local|worktree|file\b.*)$|^-f$/.test(word),
  );
  return risky.length > 0 ? "its configuration" : undefined;
}

/** Keys that can name a program, with values that name no program or a program that only prints. */
const HARMLESS_VALUE =
  /^(?:(?:core\.(?:pager|editor)|sequence\.editor|pager\.\w+) (?:cat|true|false|:)|(?:commit|tag)\.gpgsign (?:false|no|off|0)|gc\.auto \d+|maintenance\.auto (?:true|false))$/i;

/** Options of `git config` whose value is the next word. */
const CONFIG_VALUE = /^(?:-f|--(?:file|blob|type|default|comment|value|url))$/;

/** Returns whether `git config` changes a key. Its options end at the first other word: `git config core.pager --get` sets it. */
function setsKey(args: readonly string[]): boolean {
  const at = args.findIndex((word, i) => !word.startsWith("-") && !CONFIG_VALUE.test(args[i - 1] ?? ""));
  const options = at < 0 ? args : args.slice(0, at);
  if (options.some((word) => /^(?:-l|--list|--get.*)$/.test(word))) return false;
  if (options.some((word) => /^--(?:unset|add|replace-all|re(?:move|name)-section)/.test(word))) return true;
  const [first = "", ...values] = at < 0 ? [] : args.slice(at);
  if (/^(?:get|list)$/.test(first)) return false;
  return /^(?:unset|re(?:move|name)-section)$/.test(first) || values.length > 0;
}

/** Returns whether a line may write in a directory that it asks git for: `cp a "$(git rev-parse --git-path hooks)/x"`. */
function writesInGit({ mentioned, files }: LineParts): boolean {
  const asks = mentioned.some(
    (words) =>
      words[0] === "git" &&
      words.some((word) => /^--(?:git-path|git-dir|absolute-git-dir|git-common-dir)$/.test(word)),
  );
  const isUnknown = (word: string): boolean => word.includes(UNKNOWN);
  return (
    asks &&
    (files.some(({ kind, path }) => kind === "write" && isUnknown(path)) ||
      mentioned.some((words) => WRITES.test(baseName(words[0] ?? "")) && words.some(isUnknown)))
  );
}

const WRITES = /^(?:cp|mv|ln|install|tee|dd|touch|chmod|rm|sed|rsync|cd|pushd|tar|curl|wget)$/;
