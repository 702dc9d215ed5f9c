/**
 * One piece of a word, or the space between two; nothing that the shell would expand, redirect, group or comment out. `{}` is itself,
 * and so is `#` within a word.
 */
const PIECE =
  /'(?<single>[^'\0]*)'|"(?<double>(?:[^"\\$`\0]|\\[^\0])*)"|\\(?<escaped>[^\n\0])|(?<plain>[^\s'"\\;&|<>(){}$`#\0]+|\{\}|(?<=\S)#)|(?<space>[ \t]+)/y;

/**
 * The words of a command that is one simple command and nothing else, quotes removed; undefined for everything with an
 * operator, an expansion, a redirection, a substitution, a comment or an assignment in front, and for what has an open
 * quote. Conservative on purpose: what is not understood is not simple.
 */
export function simpleCommand(command: string): string[] | undefined {
  const words = readWords(trimBlanks(command));
  const first = words?.[0];
  return first === undefined || ASSIGNMENT.test(first) ? undefined : words;
}

const ASSIGNMENT = /^[A-Za-z_]\w*\+?=/;

/** Without what a shell takes as blank, which is less than what `trim` does: `\u00a0git` is a program of its own. */
function trimBlanks(text: string): string {
  let [from, to] = [0, text.length];
  while (from < to && " \t\n".includes(text.charAt(from))) from += 1;
  while (to > from && " \t\n".includes(text.charAt(to - 1))) to -= 1;
  return text.slice(from, to);
}

function readWords(text: string): string[] | undefined {
  const words: string[] = [];
  let word: string | undefined;
  const piece = new RegExp(PIECE);
  while (piece.lastIndex < text.length) {
    const groups = piece.exec(text)?.groups;
    if (groups === undefined) return undefined;
    if (groups.space === undefined) {
      const double = groups.double?.replace(/\\\n/g, "").replace(/\\(["\\$`])/g, "$1");
      word = (word ?? "") + (groups.single ?? double ?? groups.escaped ?? groups.plain ?? "");
    } else if (word !== undefined) {
      words.push(word);
      word = undefined;
    }
  }
  return word === undefined ? words : [...words, word];
}

/** Commands and keywords that run words behind them. */
const WRAPPERS =
  /^(sudo|doas|pkexec|runuser|sg|env|command|builtin|exec|nohup|nice|ionice|chrt|taskset|setarch|prlimit|time|timeout|stdbuf|setsid|setpriv|unshare|nsenter|chroot|fakeroot|flock|strace|ltrace|systemd-run|xargs|find|fd|parallel|watch|entr|busybox|script|unbuffer|chronic|caffeinate|arch|noglob|nocorrect|repeat|-|then|do|else|elif|if|while|until|!)$/;

/**
 * Every run of words of a command that the shell may come to run as a command of its own, for deny rules: split at each
 * operator whether quoted or not, without the assignments in front, from every word on behind a carrier (`sudo`, `xargs`,
 * …), with and without a directory in front of the name. Rather more than what runs than less. One at a time, since of a long
 * command that is carried there are many.
 */
export function* possibleCommands(command: string): Generator<string[]> {
  // A blank that is written otherwise.
  const spaced = command.replace(/\$(IFS\b|\{IFS\})/g, " ");
  for (const text of new Set([spaced, expandBraces(spaced)])) {
    for (const part of text.split(/[;&|\n\r(){}`<>]/)) {
      for (const form of new Set([part, part.replace(/["'\\]/g, "")])) {
        yield* commandForms(form.split(/\s+/).filter((word) => word !== ""));
      }
    }
  }
  // An alias of git's, or an escape of an editor's.
  for (const escaped of command.matchAll(/["'=]!([^"'\n]+)/g)) yield* possibleCommands(escaped[1] ?? "");
  for (const quoted of command.matchAll(/(?:\s-\w*c|\beval)\s+(["'])([\s\S]*?)\1/g)) {
    yield* possibleCommands(quoted[2] ?? "");
  }
}

/** Groups in braces that are expanded; a line with more is none that anybody writes. */
const MAX_BRACES = 20;
/** Characters of it: each group may double what stands around it. */
const MAX_EXPANDED = 65_536;
/** Characters on either side of a group that are one word with it. */
const MAX_WORD = 200;

/** `{rm,-rf,x}` and `r{m,} x` as the words that bash makes of them. */
function expandBraces(command: string): string {
  let text = command;
  for (let i = 0; i < MAX_BRACES && text.length < MAX_EXPANDED; i += 1) {
    const group = /\{([^\s{},]*,[^\s{}]*)\}/.exec(text);
    if (group === null) break;
    const end = group.index + group[0].length;
    const before = /\S*$/.exec(text.slice(Math.max(0, group.index - MAX_WORD), group.index))?.[0] ?? "";
    const after = /^\S*/.exec(text.slice(end, end + MAX_WORD))?.[0] ?? "";
    const words = (group[1] ?? "").split(",").map((word) => `${before}${word}${after}`);
    text = `${text.slice(0, group.index - before.length)}${words.join(" ")}${text.slice(end + after.length)}`;
  }
  return text;
}

/**
 * What the shell may come to run of these words: they themselves, and what a carrier in front would run, each also without the options
 * in front of a subcommand (`git -C x push`).
 */
export function* commandForms(words: readonly string[]): Generator<string[]> {
  for (const i of commandStarts(words)) {
    const name = words[i] ?? "";
    for (const at of [i + 1, ...subcommandIndexes(words, i + 1)]) {
      const args = words.slice(at);
      yield [name].concat(args);
      if (name.includes("/")) yield [baseName(name)].concat(args);
    }
  }
}

/** Where in these words a command may begin: at the first that assigns nothing, and behind a carrier at each. */
export function* commandStarts(words: readonly string[]): Generator<number> {
  let start = 0;
  while (ASSIGNMENT.test(words[start] ?? "")) start += 1;
  const carried = WRAPPERS.test(baseName(words[start] ?? ""));
  const end = carried ? words.length : start + 1;
  for (let i = start; i < end; i += 1) yield i;
}

/** Options in front of a subcommand that are looked past; more than anybody writes. */
const MAX_OPTIONS = 20;

/** The places behind options that may hold a subcommand: whether the word behind an option is its value only its program knows. */
function subcommandIndexes(words: readonly string[], from: number): number[] {
  const found: number[] = [];
  let isValue = false;
  for (let at = from; at < Math.min(words.length, from + 2 * MAX_OPTIONS); at += 1) {
    const isOption = words[at]?.startsWith("-") === true;
    if (!isOption) {
      if (at > from) found.push(at);
      if (!isValue) break;
    }
    isValue = isOption;
  }
  return found;
}

export function baseName(word: string): string {
  return word.slice(word.lastIndexOf("/") + 1);
}
