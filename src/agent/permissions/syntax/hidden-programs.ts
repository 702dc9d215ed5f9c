import { isHarmlessCode, isHarmlessPattern } from "../commands/harmless-code.ts";
import {
  baseName,
  codesIn,
  indexesBeforeProgram,
  isDescriptor,
  placeholderOf,
  runnerOf,
  WRAPS,
} from "../commands/runners.ts";

/** The words of a command that only the shell knows, by their indexes. */
interface UnknownWords {
  /** They contain a variable or a substitution. */
  readonly expanded: readonly boolean[];
  /** The shell replaces them with names of files. */
  readonly patterns: readonly boolean[];
}

/** Returns why it cannot be known which programs a command runs, as a clause; undefined if its words show them. */
export function hiddenProgram(words: readonly string[], unknown: UnknownWords): string | undefined {
  const base = baseName(words[0] ?? "");
  return (
    hiddenByCode(base, words, unknown) ??
    hiddenByShell(base, words, unknown) ??
    hiddenByFinder(base, words, unknown) ??
    hiddenByWrapper(words, unknown)
  );
}

/** Returns why the code that a command gives to an interpreter may run any program. */
function hiddenByCode(
  base: string,
  words: readonly string[],
  { expanded, patterns }: UnknownWords,
): string | undefined {
  // Other programs name an interpreter as data: `grep awk *.sh`.
  const runsCode = runnerOf(base) !== undefined || isWrapper(base);
  for (const { language, code, at } of codesIn(words).codes) {
    if (expanded[at]) return `${base} runs code that only the shell knows`;
    const isHarmless = runsCode && patterns[at] ? isHarmlessPattern : isHarmlessCode;
    if (language !== "shell" && !isHarmless(language, code))
      return `${base} runs code that may start any program`;
  }
  return undefined;
}

/** Returns why it cannot be known which text or file the shell itself runs. */
function hiddenByShell(
  base: string,
  words: readonly string[],
  { expanded, patterns }: UnknownWords,
): string | undefined {
  if (base === "eval" && [...expanded, ...patterns].some(Boolean))
    return "eval runs text that only the shell knows";
  const isSource = base === "." || base === "source";
  return isSource && (words.length === 1 || expanded[1] || isDescriptor(words[1] ?? ""))
    ? `${base} runs a file that only the shell knows`
    : undefined;
}

/** Returns why it cannot be known what find, xargs or parallel runs. */
function hiddenByFinder(
  base: string,
  words: readonly string[],
  { expanded }: UnknownWords,
): string | undefined {
  if (runsFoundFiles(words)) return `${base} runs files that it finds, or words from its input`;
  return /^(?:xargs|parallel)$/.test(base) && expanded.some(Boolean)
    ? `${base} runs words that only the shell knows`
    : undefined;
}

const WRAPPER =
  /^(?:env|sudo|doas|nice|ionice|nohup|command|builtin|exec|busybox|toybox|time|timeout|stdbuf|setsid|xargs|parallel|eval)$/;
/** Options of wrappers whose value is the next word. */
const WITH_VALUE = /^-[sadERIJughCTkcf]$/;
/** Another option, a number or a variable between a wrapper and its program. */
const OF_WRAPPER = /^(?:-.*|[\d.]+[smhd]?|\w+=.*)$/s;

/** Maximum number of wrappers and options before a program: more than real commands need. */
const MAX_WRAPPED = 40;

/** Returns whether a program runs files that it finds, or words of its input, even after wrappers: `find -exec env {}`. */
function runsFoundFiles(words: readonly string[]): boolean {
  const placeholder = placeholderOf(words);
  if (placeholder === undefined) return false;
  return indexesBeforeProgram(words).some((at) => runsFoundAfter(words, at, placeholder));
}

function runsFoundAfter(words: readonly string[], from: number, placeholder: RegExp): boolean {
  let wrappers = 0;
  for (let at = from + 1; at < words.length; at += 1) {
    const word = words[at] ?? "";
    if (at - from > MAX_WRAPPED) return true;
    if (WITH_VALUE.test(word)) at += 1;
    else if (WRAPPER.test(baseName(word))) wrappers += 1;
    else if (!OF_WRAPPER.test(word)) return placeholder.exec(word)?.index === 0;
  }
  // The next word of the input is the program.
  return wrappers > 0;
}

/** More programs that run the words after their own options. */
const RUNS_WORDS =
  /^(?:chrt|taskset|setarch|prlimit|valgrind|ltrace|unbuffer|caffeinate|chronic|xvfb-run|dbus-run-session|setpriv|runuser|fakeroot|proot|firejail|faketime|eatmydata|torsocks|proxychains4?|numactl|cgexec|cpulimit|rlwrap|npx|bunx|pnpx|cross-env|entr|pkexec|gxargs|gfind|fd|fdfind|noglob|nocorrect|repeat|and|or|not|begin|-)$/;

function isWrapper(name: string): boolean {
  return WRAPS.test(name) || RUNS_WORDS.test(name);
}

/** Wrappers whose first operand is not the program: a time, a lock, a directory. */
const TAKES_OPERAND = /^(?:timeout|flock|chrt|taskset|chroot|setarch|faketime|repeat)$/;

/** Options of wrappers that have no value. The word after another option may be its value. */
const FLAGS: ReadonlyMap<string, RegExp> = new Map([
  ["timeout", /^(?:-[fpv]+|--(?:foreground|preserve-status|verbose))$/],
  ["flock", /^(?:-[enosuxFv]+|--(?:close|exclusive|no-?fork|nb|nonblock|shared|unlock|verbose))$/],
  ["chrt", /^-[abdfimoprRv]+$/],
  ["taskset", /^-[acp]+$/],
  ["setarch", /^-/],
  ["faketime", /^-[fm]$/],
  ["command", /^-/],
  ["builtin", /^-/],
  ["sudo", /^-[AbEHiknPSs]+$/],
  ["env", /^-[0iv]*$/],
  ["xargs", /^-[0prtx]+$/],
  ["time", /^-[alpqv]+$/],
  ["setsid", /^-[cfw]+$/],
  ["strace", /^-[fqtTvxy]+$/],
  ["watch", /^-[bcdegptwx]+$/],
  ["caffeinate", /^-[dimsu]+$/],
  ["xvfb-run", /^(?:-a|--auto-servernum)$/],
  ["npx", /^(?:-[yq]|--(?:yes|no|no-install|quiet|offline|prefer-offline))$/],
  ["bunx", /^--bun$/],
]);
/** An option that has its value in the same word: `--signal=INT`, `-k5`, `-oL` of stdbuf. */
const HAS_VALUE = /^(?:--[\w-]+=|-[A-Za-z]?\d|-[eio][L0])/;

/** Returns why it cannot be known which program a wrapper runs: `sudo $X`, `timeout 5 env $X`, `find -exec $X`. */
function hiddenByWrapper(words: readonly string[], { expanded, patterns }: UnknownWords): string | undefined {
  const isUnknown = (at: number): boolean => expanded[at] === true || patterns[at] === true;
  const nameAt = (at: number): string => baseName(words[at] ?? "");
  let wrapper = 0;
  while (isWrapper(nameAt(wrapper))) {
    const why = `the program after ${nameAt(wrapper)} is known only to the shell`;
    if (/^(?:g?find|fd|fdfind)$/.test(nameAt(wrapper)))
      return indexesBeforeProgram(words).some((at) => isUnknown(at + 1)) ? why : undefined;
    const at = programAt(words, wrapper, isUnknown);
    if (at === undefined) return undefined;
    if (isUnknown(at)) return why;
    wrapper = at;
  }
  return undefined;
}

/** Returns the index of the program that a wrapper runs, or of the first unknown word before it; undefined without a program. */
function programAt(
  words: readonly string[],
  wrapper: number,
  isUnknown: (at: number) => boolean,
): number | undefined {
  const name = baseName(words[wrapper] ?? "");
  let operands = TAKES_OPERAND.test(name) ? 1 : 0;
  for (let at = wrapper + 1; at < words.length; at += 1) {
    const [before = "", word = ""] = [words[at - 1], words[at]];
    // A text after `-c` is searched as a script.
    const isScript = before === "-c" && /\s/.test(word);
    if (isScript || word.startsWith("-") || /^\w+=/.test(word)) continue;
    if (isUnknown(at)) return at;
    if (at - 1 > wrapper && mayTakeNext(name, before)) continue;
    if (operands === 0) return at;
    operands -= 1;
  }
  return undefined;
}

/** Returns whether the word after a word of a wrapper may be its value. */
function mayTakeNext(name: string, word: string): boolean {
  const isOption = word.startsWith("-") && word !== "--";
  return isOption && !HAS_VALUE.test(word) && FLAGS.get(name)?.test(word) !== true;
}
