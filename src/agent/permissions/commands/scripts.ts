import { textStart } from "../../../text/characters/cut-text.ts";
import { MAX_CODE } from "./harmless-code.ts";
import { MAX_SCRIPTS } from "./line-limits.ts";
import { UNKNOWN } from "./pattern-meetings.ts";
import { baseName, codesIn, placeholderOf, runnerOf } from "./runners.ts";
import { isPlainQuery, SQL_CLIENT } from "./tables/sql.ts";
import { textIndexes } from "./text-values.ts";

/** Commands whose quoted words are scripts of a shell. */
const TAKES_SCRIPTS =
  /^(?:eval|trap|alias|su|sg|runuser|env|watch|entr|script|flock|ssh|mosh|autossh|tmux|screen|parallel|xargs|find|fd|docker|podman|nerdctl|kubectl|oc|npx|npm|pnpm|yarn|bunx|concurrently|nodemon|watchexec|nix-shell|nix|hyperfine|perf|sshpass|systemd-run|start-stop-daemon|man|tar|gtar|bsdtar|rsync|scp|sftp|zip|make|gmake|crontab|at|sudo|doas|dbus-run-session|xterm|gnome-terminal|konsole|direnv|mise|complete|bind|fc|coproc|time|nohup|setsid|timeout|nice|busybox|toybox|git|sort|split|gdb|strace|ltrace|vagrant|ansible|psql|mysql|sqlite3|less|more|socat|ncat|nc|netcat|java|ip|batch|bind|readarray|mapfile|export|declare|typeset|local|readonly)$/;

/** Returns whether the quoted words of a command are searched as scripts of a shell. */
export function runsScripts(words: readonly string[]): boolean {
  return TAKES_SCRIPTS.test(baseName(words[0] ?? ""));
}

/**
 * Returns the texts among a command's words that a shell may run: `sh -c`, `eval`, `ssh host '…'`, `find -exec sh -c`,
 * `tar --checkpoint-action=exec=…`. Too many rather than too few.
 */
export function embeddedScripts(words: readonly string[]): string[] {
  const placeholder = placeholderOf(words);
  const texts = scriptsIn(words);
  // Only the shell knows the text for the placeholder: `xargs -I X sh -c 'X a'`.
  return placeholder === undefined
    ? texts
    : texts.map((text) => text.replaceAll(new RegExp(placeholder, "g"), UNKNOWN));
}

function scriptsIn(words: readonly string[]): string[] {
  const at = words.findIndex(
    (word) => TAKES_SCRIPTS.test(baseName(word)) || runnerOf(word)?.language === "shell",
  );
  if (at < 0) return codeStrings(words);
  const rest = words.slice(at + 1);
  const joined = /^(?:eval|trap|ssh|mosh|autossh)$/.test(baseName(words[at] ?? ""))
    ? [withoutKeys(rest)]
    : [];
  const texts = textIndexes(words.slice(at));
  const isQuery = SQL_CLIENT.test(baseName(words[at] ?? ""));
  const shown = rest.filter((word, i) => !(isQuery && isPlainQuery(word)) && !texts.has(i + 1));
  return [...new Set([...joined, ...shown.flatMap(scriptsInWord), ...codeStrings(words)])].filter(
    (text) => text !== "",
  );
}

/** Returns the text that a shell runs, here or on another machine, without the keys and configurations of `ssh -i key host 'a'`. */
function withoutKeys(words: readonly string[]): string {
  let at = 0;
  while (/^-[iF]$/.test(words[at] ?? "")) at += 2;
  return words.slice(at).join(" ");
}

/** `--checkpoint-action=exec=rm x`, `-oProxyCommand=rm x`, `alias a='rm x'`, `core.pager=!rm x`. */
function scriptsInWord(word: string): string[] {
  const hasBlank = /\s/.test(word);
  const isOption = word.startsWith("-");
  const found = afterEquals(word).map((text) => text.replace(/^!/, ""));
  if (hasBlank && !isOption) found.unshift(word.replace(/^!/, ""));
  return hasBlank ? [...found, word.replace(PREFIX, "")] : found;
}

/** Returns the text after each equals sign, at most one more than the limit of scripts in a line: such a line is refused. */
function afterEquals(word: string): string[] {
  const found: string[] = [];
  for (let at = word.indexOf("="); at >= 0 && found.length <= MAX_SCRIPTS; at = word.indexOf("=", at + 1))
    found.push(word.slice(at + 1));
  return found;
}

/** `-e`, `!`, `\!`, `+!`, `~!`, `.shell `, `EXEC:` and `ext::` before the text that a program gives to a shell. */
const PREFIX = /^(?:--[\w-]+[= ]|-\w|[\\+~]?!|\.\w+\s|[A-Za-z]+::?)\s*/;

/** Returns the quoted texts in the code that an interpreter takes: `awk 'BEGIN { system("rm x") }'`. */
function codeStrings(words: readonly string[]): string[] {
  return codesIn(words).codes.flatMap(({ language, code: whole }) => {
    if (language === "shell") return [whole];
    const code = textStart(whole, MAX_CODE);
    const quoted = [...code.matchAll(/(["'`])((?:\\.|(?!\1)[^\\])*)\1/g)].map(([, , text = ""]) => text);
    // sed's `e`, and `!`, `shell` or `system` of editors, debuggers and databases.
    const bare = /^\s*[\d,$]*\s*(?:e|[:\\.]?!|[:.]?(?:shell|system)\s)\s*(.+)$/s.exec(code)?.[1] ?? "";
    return [...quoted, bare];
  });
}

/** Returns pieces of a script that may be paths. */
export function tokensOf(text: string): string[] {
  return text.split(/[\s'"`;|&<>()=,:{}[\]\\!]+/).filter((token) => token !== "");
}

/** Returns the words of a command that are scripts or code. */
export function scriptWords(words: readonly string[]): string[] {
  const takes = words.some((word) => TAKES_SCRIPTS.test(baseName(word)) && baseName(word) !== "git");
  return [
    ...codesIn(words).codes.map(({ code }) => code),
    ...(takes ? words.filter((word) => /\s/.test(word)) : []),
  ];
}
