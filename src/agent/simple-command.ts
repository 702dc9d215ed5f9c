/** One piece of a word, or the space between two; nothing that the shell would expand, redirect, group or comment out. */
const PIECE =
  /'(?<single>[^'\0]*)'|"(?<double>(?:[^"\\$`\0]|\\[^\0])*)"|\\(?<escaped>[^\n\0])|(?<plain>[^\s'"\\;&|<>(){}$`#\0]+)|(?<space>[ \t]+)/y;

/**
 * The words of a command that is one simple command and nothing else, quotes removed; undefined for everything with an
 * operator, an expansion, a redirection, a substitution, a comment or an assignment in front, and for what has an open
 * quote. Conservative on purpose: what is not understood is not simple.
 */
export function simpleCommand(command: string): string[] | undefined {
  const words = readWords(command.trim());
  const first = words?.[0];
  return first === undefined || ASSIGNMENT.test(first) ? undefined : words;
}

const ASSIGNMENT = /^[A-Za-z_]\w*\+?=/;

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
const CARRIERS =
  /^(sudo|doas|env|command|builtin|exec|nohup|nice|ionice|time|timeout|stdbuf|setsid|xargs|find|fd|parallel|watch|busybox|script|then|do|else|elif|if|while|until|!)$/;

/**
 * Every run of words of a command that the shell may come to run as a command of its own, for deny rules: split at each
 * operator whether quoted or not, without the assignments in front, from every word on behind a carrier (`sudo`, `xargs`,
 * …), with and without a directory in front of the name. Rather more than what runs than less.
 */
export function possibleCommands(command: string): string[][] {
  const found: string[][] = [];
  for (const part of command.split(/[;&|\n\r(){}`<>]/)) {
    for (const form of new Set([part, part.replace(/["'\\]/g, "")])) {
      found.push(...startsOf(form.split(/\s+/).filter((word) => word !== "")));
    }
  }
  for (const quoted of command.matchAll(/(?:\s-\w*c|\beval)\s+(["'])([\s\S]*?)\1/g)) {
    found.push(...possibleCommands(quoted[2] ?? ""));
  }
  return found;
}

function startsOf(words: readonly string[]): string[][] {
  let start = 0;
  while (ASSIGNMENT.test(words[start] ?? "")) start += 1;
  const carried = CARRIERS.test(baseName(words[start] ?? ""));
  const starts = carried ? words.map((_, i) => i).slice(start) : [start];
  return starts.flatMap((i) => {
    const [name = "", ...rest] = words.slice(i);
    return [
      [name, ...rest],
      [baseName(name), ...rest],
    ];
  });
}

function baseName(word: string): string {
  return word.slice(word.lastIndexOf("/") + 1);
}
