import { isHarmlessCode } from "./harmless-code.ts";
import { readingOf } from "./readers.ts";
import { riskyWords } from "./risky-options.ts";
import { baseName, codesIn } from "./runners.ts";

/**
 * Programs, besides those that only read, whose words are only data: paths, text, patterns. None of their options runs a
 * program that a word names, except options that `riskyWords` knows. Source: their manuals.
 */
const ONLY_DATA: ReadonlySet<string> = new Set(
  "mkdir rmdir touch tee chmod chown chgrp kill pkill pgrep killall ps whereis whatis apropos help cd chdir pushd popd exit return sleep wait curl pytest tldr".split(
    " ",
  ),
);

/** Programs with subcommands that take only data, unless a word matches `never`. */
const BY_SUBCOMMAND: Readonly<Record<string, { readonly names: RegExp; readonly never: RegExp }>> = {
  git: {
    names:
      /^(?:add|commit|tag|branch|checkout|switch|restore|reset|merge|cherry-pick|revert|stash|push|pull|fetch|mv|rm|diff|log|show|grep|status|blame|notes|describe|ls-files)$/,
    // git runs the words after `ext::`, and git grep the word after `-O`.
    never: /(?:^|=)ext::|^-[a-zA-Z]*O/,
  },
  gh: { names: /^(?:pr|issue|release|search|run|workflow|label)$/, never: /^--editor/ },
  cargo: { names: /^(?:build|test|check|clippy|doc|bench)$/, never: /^(?:--config|-Z|-C)/ },
  go: { names: /^(?:test|build|vet)$/, never: /^--?(?:exec|toolexec|vettool|overlay|C)\b/ },
  npm: { names: /^(?:test|t|run|run-script|ls|view|outdated)$/, never: /^--?c(?:all)?\b/ },
  hg: { names: /^(?:commit|ci)$/, never: /^--(?!message)|^-[^m]/ },
  svn: { names: /^(?:commit|ci)$/, never: /^--(?!message)|^-[^m]/ },
  jj: { names: /^(?:commit|describe|desc)$/, never: /^--(?!message)|^-[^m]/ },
};

/** Returns whether a command's words are only data for it, so that it runs no program that they name. */
export function takesOnlyData(written: readonly string[], depth = 0): boolean {
  const words = withoutDirectory(written);
  const [name = "", ...args] = words;
  if (readingOf(words) !== undefined) return true;
  const inner = wrappedAt(words);
  if (inner !== undefined) return depth < MAX_WRAPPERS && takesOnlyData(words.slice(inner), depth + 1);
  if (name === "man") return args.every((word) => !word.startsWith("-") || /^-[akfwiI\d]+$/.test(word));
  if (ONLY_DATA.has(name)) return riskyWords(words).length === 0;
  const known = Object.hasOwn(BY_SUBCOMMAND, name) ? BY_SUBCOMMAND[name] : undefined;
  return (
    known?.names.test(args[0] ?? "") === true &&
    !args.some((word) => known.never.test(word)) &&
    riskyWords(words).length === 0
  );
}

/** Removes harmless options of git before its subcommand, such as `-C a` and `--no-pager`. */
function withoutDirectory(words: readonly string[]): readonly string[] {
  if (words[0] !== "git") return words;
  let at = 1;
  while (GIT_PLACE.test(words[at] ?? "")) at += words[at] === "-C" ? 2 : 1;
  return ["git", ...words.slice(at)];
}

const GIT_PLACE = /^(?:-C|-P|--no-pager|--no-optional-locks|--literal-pathspecs)$/;

/** Returns whether a command obeys no variable whose value names a program. */
export function ignoresVariables(words: readonly string[]): boolean {
  const reading = readingOf(words);
  return reading !== undefined && reading.git === undefined;
}

/** Returns the index of the command that a wrapper runs with simple options; undefined for every other command. */
export function wrappedAt(words: readonly string[]): number | undefined {
  if (!/^(?:g?xargs|time|timeout|nice|nohup)$/.test(words[0] ?? "")) return undefined;
  const at = words.findIndex((word, i) => i > 0 && !WRAPPER_WORD.test(word));
  return at < 0 ? undefined : at;
}

/** Maximum number of wrappers around a command: more than real commands need. */
const MAX_WRAPPERS = 4;

/** Options of wrappers, and values that no wrapper reads as a program. */
const WRAPPER_WORD = /^(?:-[0rnPLtkp]\d*|-I\{\}|-I|\{\}|[\d.]+[smhd]?|--null|--no-run-if-empty)$/;

/** Programs with a subcommand for nearly everything: `git rm` is not `rm`. */
const HAS_SUBCOMMANDS =
  /^(?:git|hg|svn|jj|npm|pnpm|yarn|bun|pip3?|cargo|brew|conda|poetry|uv|gsutil|dvc|hub|gh (?:repo|label|secret|variable)|aws s3|terraform state|(?:docker|podman|nerdctl)(?: (?:container|image|volume|network|compose|config|context|service|stack|secret|pod|manifest|plugin|buildx|node))?)$/;

/** Maximum number of words before a subcommand. */
const MAX_BEFORE = 2;

/** Maximum index of code that counts as harmless: a word far from its interpreter is more likely a name. */
const MAX_BEFORE_CODE = 40;

/**
 * Returns the indexes of words that no program can read as the name of another: the program's own name and subcommand, and code
 * that starts no program, or whose commands are searched themselves.
 */
export function harmlessIndexes(words: readonly string[]): ReadonlySet<number> {
  const found = new Set([0]);
  for (let at = 1; at <= MAX_BEFORE; at += 1) {
    const isName = /^\w[\w-]*$/.test(words[at] ?? "");
    if (isName && HAS_SUBCOMMANDS.test(words.slice(0, at).join(" "))) found.add(at);
  }
  for (const { language, code, at, mayBeFile } of codesIn(words).codes) {
    if (mayBeFile === true || at >= MAX_BEFORE_CODE) continue;
    if (language === "shell" || isHarmlessCode(language, code)) found.add(at);
  }
  return found;
}

/** Options of well-known programs whose value is a command. */
const RUNS_VALUE: Readonly<Record<string, RegExp>> = {
  git: /^(?:-[cx]|--(?:exec|extcmd|upload-pack|receive-pack|open-files-in-pager|[\w-]*-filter))$/,
  tar: /^-\w*[IF]$/,
  man: /^-[PH]$/,
  ssh: /^-o$/,
  scp: /^-[oS]$/,
  sftp: /^-[oSD]$/,
  rsync: /^-\w*e$/,
  zip: /^-TT$/,
  npm: /^-c$/,
  npx: /^-c$/,
  tcpdump: /^-z$/,
  nc: /^-[ec]$/,
  ncat: /^-[ec]$/,
  xterm: /^-e$/,
  tmux: /^(?:run-shell|run|if-shell|if|pipe-pane|pipep|send-keys|send|new|new-session|new-window|neww|split-window|splitw)$/,
};

/** Options of any program whose name says that their value is a command. */
const NAMES_COMMAND =
  /command|cmd|exec|shell|prog|filter|hook|pager|editor|rsh|askpass|wrapper|launcher|eval|checkpoint-action/;

function namesCommand(option: string): boolean {
  return /^-[\w-]*$/.test(option) && NAMES_COMMAND.test(option);
}

/** Returns whether a value that only the shell knows may be a command: `tar --to-command=$X`, `ssh -o "$X"`. */
export function mayRunUnknown(words: readonly string[], unknown: string): boolean {
  const short = RUNS_VALUE[baseName(words[0] ?? "")];
  return words.some((word, at) => {
    if (at === 0 || !word.includes(unknown)) return false;
    const [option = ""] = word.split("=", 1);
    const before = words[at - 1] ?? "";
    return (
      namesCommand(option) ||
      /^(?:SHELL|EXEC|SYSTEM|SHELL:|[\w.]*(?:pager|editor|command|cmd))[:=]/i.test(word) ||
      /^(?:EXEC|SYSTEM|SHELL):/i.test(word) ||
      namesCommand(before) ||
      short?.test(before) === true ||
      (/^-\w/.test(word) && short?.test(word.slice(0, 2)) === true)
    );
  });
}
