import { commandsNamed } from "../commands/command-starts.ts";
import { UNKNOWN } from "../commands/pattern-meetings.ts";
import { riskyWords } from "../commands/risky-options.ts";
import { baseName } from "../commands/runners.ts";
import type { LineParts } from "../syntax/parts.ts";

/**
 * Commands whose purpose is to change a file from which commands run later, at a moment that no agent chose, by the words that
 * follow their name. Source: their manuals.
 */
const CHANGES: readonly (readonly [program: RegExp, words: RegExp, what: string])[] = [
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
    /^(?:-\S+ )*(?:config|c|set)(?: set)? (?!get |ls|list)\S+[ =]|^(?:config|c) (?:set|edit|fix)/,
    "the configuration of a package manager",
  ],
  [
    /^(?:husky|pre-commit|lefthook|simple-git-hooks)$/,
    /^(?:(?:install|init|add|set)(?: |$)|$)/,
    "git's hooks",
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

/** Subcommands of git that change its configuration or its hooks. */
const OF_GIT =
  /(?:^| )(?:config|remote|submodule|lfs (?:install|update)|maintenance (?:start|register))(?: |$)/;
const ALWAYS = /(?:^| )(?:lfs (?:install|update)|maintenance (?:start|register))(?: |$)/;

/** Returns why a line changes commands that run later, although it names no such file; undefined if it does not. */
export function laterCommand(parts: LineParts): string | undefined {
  for (const [program = "", ...args] of parts.mentioned.flatMap((words) => commandsNamed(words, CHANGING))) {
    const name = baseName(program);
    const rest = args.join(" ");
    const what =
      name === "git"
        ? changedByGit(["git", ...args], rest)
        : CHANGES.find(([known, does]) => known.test(name) && does.test(rest))?.[2];
    if (what !== undefined) return `${name} may change ${what}, so that commands run later.`;
  }
  return writesInGit(parts)
    ? "Only the shell knows which file the line writes, and it asks for git's directory."
    : undefined;
}

/** A key that names no program is harmless, and so is a list. */
function changedByGit(words: readonly string[], rest: string): string | undefined {
  if (ALWAYS.test(rest)) return "its configuration or its hooks";
  if (!OF_GIT.test(rest) || !/(?:^| )(?:config|remote|submodule)(?: |$)/.test(rest)) return undefined;
  const shows = /(?:^| )(?:--get\S*|--list|-l|get|list|get-url|show|status|foreach|--show-\S+)(?: |$)/.test(
    rest,
  );
  const isSet = /(?:^| )config (?:-\S+ |set )*\S+ \S|(?:^| )(?:remote|submodule) (?:add|set-url) /.test(rest);
  const risky = riskyWords(words, 1).filter(
    ({ word }) => !/^--(?:global|system|local|worktree|file\b.*)$|^-f$/.test(word),
  );
  return isSet && !shows && risky.length > 0 ? "its configuration" : undefined;
}

/** `cp a "$(git rev-parse --git-path hooks)/x"`. */
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
