import { type Language, mayTakeValue, takesFile, takesValue } from "./harmless-code.ts";
import { MAX_RUNNERS } from "./line-limits.ts";
import { UNKNOWN } from "./pattern-meetings.ts";

interface Runner {
  readonly language: Language;
  /** Options whose value is code. */
  readonly code: RegExp;
  /** The first operand is code, unless an option gave it. */
  readonly takesOperand?: boolean;
  /** Without a file, it runs its input. */
  readonly runsInput?: boolean;
}

/**
 * Programs that run code. Source: their manuals. A cluster of short options may end in the option that takes code: `bash -lc`,
 * `perl -pe`.
 */
const RUNNERS: readonly (readonly [name: RegExp, runner: Runner])[] = [
  [
    /^(?:ba|z|da|k|mk|a|fi|pdk|ya|c|tc|r)?sh$|^(?:bash|zsh)[-\d.]+$|^(?:nu|elvish|xonsh|pwsh|oil|osh|ysh)$/,
    { language: "shell", code: /^(?:-\w*c|--command|--init-command|-C)$/, runsInput: true },
  ],
  [/^py(?:thon|py)?[\d.]*$|^ipython3?$/, { language: "python", code: /^-\w*c$/, runsInput: true }],
  [
    /^(?:node|nodejs|bun|tsx|ts-node)$/,
    { language: "node", code: /^(?:-[ep]+|--eval|--print)$/, runsInput: true },
  ],
  [/^perl[\d.]*$/, { language: "perl", code: /^-\w*[eE]$/, runsInput: true }],
  [/^ruby[\d.]*$|^jruby$/, { language: "other", code: /^-\w*e$/, runsInput: true }],
  [/^php[\d.]*$/, { language: "other", code: /^-[rBRE]$/, runsInput: true }],
  [
    /^(?:lua[\d.]*|luajit|julia|Rscript|R|osascript|swift|elixir|groovy|scala|guile)$/,
    { language: "other", code: /^-\w*[eE]$|^--eval$/, runsInput: true },
  ],
  [
    /^(?:tclsh|wish|expect|irb|gdb|lldb|ghci|ocaml|bc-run)[\d.]*$/,
    { language: "other", code: /^-(?:c|e|ex|iex|o)$/, runsInput: true },
  ],
  [/^[gmn]?awk$/, { language: "awk", code: /^(?:-e|--source)$/, takesOperand: true }],
  [/^g?sed$/, { language: "sed", code: /^(?:-\w*e|--expression)$/, takesOperand: true }],
  [
    /^(?:n?vim?|vimdiff|view|ex|emacs|emacsclient)$/,
    { language: "other", code: /^(?:-c|-S|--cmd|--eval|-eval)$/ },
  ],
  [/^deno$/, { language: "other", code: /^eval$/ }],
  [/^(?:ed|at|batch|parallel|crontab)$/, { language: "other", code: /^$/, runsInput: true }],
];

/** Options that make a program only describe itself. */
const DESCRIBES = /^(?:--version|-V|-v|--help|-h|-\?)$/;

export function runnerOf(name: string): Runner | undefined {
  const base = baseName(name);
  return RUNNERS.find(([known]) => known.test(base))?.[1];
}

export interface Code {
  readonly language: Language;
  /** The interpreter, without its directory. */
  readonly program: string;
  readonly code: string;
  /** Index of the word. */
  readonly at: number;
  /** Another version of the program takes the word for a file. */
  readonly mayBeFile?: boolean;
}

interface FoundCode {
  readonly codes: readonly Code[];
  /** Whether the words name more interpreters than are searched for code. */
  readonly isCut: boolean;
}

/** Cache by the array of words, which several checks of one command share. */
const KNOWN = new WeakMap<readonly string[], FoundCode>();

/** Returns the code that the words of a command, or of a command that it wraps, give to interpreters. */
export function codesIn(words: readonly string[]): FoundCode {
  const known = KNOWN.get(words);
  if (known !== undefined) return known;
  const runners = words.flatMap((name, at) => {
    const runner = runnerOf(name);
    return runner === undefined ? [] : [{ runner, at, program: baseName(name) }];
  });
  const codes = runners
    .slice(0, MAX_RUNNERS)
    .flatMap(({ runner, at, program }) => codesOf(runner, words, at + 1).map((one) => ({ ...one, program })));
  const found = { codes, isCut: runners.length > MAX_RUNNERS };
  KNOWN.set(words, found);
  return found;
}

function codesOf(runner: Runner, words: readonly string[], from: number): Omit<Code, "program">[] {
  const { language } = runner;
  const found: Omit<Code, "program">[] = [];
  const operands: number[] = [];
  let isOpen = true;
  let usesFile = false;
  let option = "";
  for (let at = from; at < words.length; at += 1) {
    const word = words[at] ?? "";
    const mayBeValue = mayTakeValue(language, option);
    option = word;
    const glued = gluedCode(runner, word);
    if (runner.code.test(word) && at + 1 < words.length) {
      at += 1;
      option = "";
      found.push({ language, code: words[at] ?? "", at });
    } else if (glued !== undefined) found.push({ language, code: glued, at });
    else if (isOpen && !word.startsWith("-")) {
      operands.push(at);
      isOpen = mayBeValue;
    } else if (!mayBeValue) {
      usesFile ||= takesFile(language, word, operands.length > 0);
      if (takesValue(language, word, words[at + 1])) {
        at += 1;
        option = "";
      }
    }
  }
  const mayUseFile = words.slice(from, operands[0]).some((word) => /^(?:-f|--file)/.test(word));
  // Most versions of awk ignore `-e`, or read no option after the first operand: that operand is their program.
  if (!runner.takesOperand || usesFile || (found.length > 0 && language !== "awk")) return found;
  const programs = operands.map((at, i) => {
    return { language, code: words[at] ?? "", at, mayBeFile: i > 0 || found.length > 0 || mayUseFile };
  });
  return [...found, ...programs];
}

/** `--eval=x`, `-ex`, `+x`. */
function gluedCode({ code, language }: Runner, word: string): string | undefined {
  const equals = word.indexOf("=");
  if (word.startsWith("--"))
    return equals > 0 && code.test(word.slice(0, equals)) ? word.slice(equals + 1) : undefined;
  const cluster = /^(?:sed|perl)$/.test(language) ? /^-[nplaswErsuz]+e(.+)$/s.exec(word)?.[1] : undefined;
  if (cluster !== undefined) return cluster;
  if (/^-[ecrpE]./.test(word) && code.test(word.slice(0, 2))) return word.slice(2);
  // `vim +12` is a line.
  return /^\+(?!\d*$)/.test(word) && language === "other" ? word.slice(1) : undefined;
}

/** `/dev/stdin` and the like, whose content the line does not show. */
export function isDescriptor(path: string): boolean {
  return /^\/dev\/(?:stdin|fd)|^\/proc\//.test(path);
}

/** Words after which find, xargs or parallel name the program that they run; the others are for fd. */
const RUNS_NEXT = /^(?:-exec|-execdir|-ok|-okdir|xargs|parallel)$/;
const FD_RUNS_NEXT = /^(?:-x|-X|--exec|--exec-batch)$/;

/** Returns the indexes of words after which such a program names the program that it runs. */
export function indexesBeforeProgram(words: readonly string[]): readonly number[] {
  const isFd = words.some((word) => /^fd(?:find)?$/.test(baseName(word)));
  return words.flatMap((word, at) =>
    RUNS_NEXT.test(baseName(word)) || (isFd && FD_RUNS_NEXT.test(word)) ? [at] : [],
  );
}

/** Returns the text that xargs, find, fd or parallel replace with a word of their input, or with the name of a file. */
export function placeholderOf(words: readonly string[]): RegExp | undefined {
  if (indexesBeforeProgram(words).length === 0) return undefined;
  const from = words.findIndex((word) => baseName(word) === "xargs");
  for (const [at, word] of words.entries()) {
    if (from < 0 || at < from) continue;
    const glued = /^(?:-[IJ]|--replace=)(.+)$/s.exec(word)?.[1];
    const text = glued ?? (/^-[IJ]$/.test(word) ? words[at + 1] : undefined);
    if (text !== undefined && text !== "") return new RegExp(text.replace(/\W/g, "\\$&"));
  }
  return /\{[\d/.]*\}/;
}

/** Programs that run the words after their own options as a command. */
export const WRAPS =
  /^(?:sudo|doas|env|command|builtin|exec|nohup|nice|ionice|time|timeout|stdbuf|setsid|xargs|find|busybox|toybox|watch|chroot|unshare|flock|strace|systemd-run)$/;

function namesFile(operand: string | undefined, rest: readonly string[]): boolean {
  return operand !== undefined && !isDescriptor(operand) && !rest.includes("-s") && operand !== UNKNOWN;
}

/** Programs that run their input later, and whether they do with these words. The words of at are a time. */
const SCHEDULERS: Readonly<Record<string, (rest: readonly string[]) => boolean>> = {
  at: (rest) => !rest.some((word) => /^-[flcdr]/.test(word)),
  crontab: (rest) => rest.includes("-"),
};

/** Returns the language that a command runs from its input, because it names no file and no code. */
export function runsInput(words: readonly string[]): Language | undefined {
  const at = inputRunnerIn(words);
  if (at === undefined) return undefined;
  const runner = runnerOf(words[at] ?? "");
  const rest = words.slice(at + 1);
  if (runner === undefined || rest.some((word) => DESCRIBES.test(word))) return undefined;
  if (codesOf(runner, words, at + 1).length > 0) return undefined;
  const scheduled = SCHEDULERS[baseName(words[at] ?? "")];
  if (scheduled !== undefined) return scheduled(rest) ? runner.language : undefined;
  const operand = rest.find(
    (word, i) => !word.startsWith("-") && !/^(?:-o|-m|-W|-r|-I|-x)$/.test(rest[i - 1] ?? ""),
  );
  const isModule = rest.includes("-m") && runner.language === "python";
  return namesFile(operand, rest) || isModule ? undefined : runner.language;
}

/** Returns the index of an interpreter that a command starts, among its words. */
function inputRunnerIn(words: readonly string[]): number | undefined {
  const [first = "", second = ""] = words;
  const name = baseName(first);
  if (name === "command" && /^-[vV]$/.test(second)) return undefined;
  const at = words.findIndex((word) => runnerOf(word)?.runsInput === true);
  // Other commands than wrappers name a shell as an operand.
  return at === 0 || (at > 0 && (WRAPS.test(name) || name === "ssh")) ? at : undefined;
}

export function baseName(word: string): string {
  return word.slice(word.lastIndexOf("/") + 1);
}
