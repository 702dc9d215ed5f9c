import { basename } from "node:path";
import { isShellName } from "../../os/process/shells.ts";

/**
 * True for the command line of a shell at its prompt, which runs no script and no command.
 * @param isShell true if the program's file is known to be a shell; if false, its name decides
 */
export function isBareShell(words: readonly string[], isShell = false): boolean {
  const [program = "", ...rest] = withoutEnv(words);
  const name = commandName(program);
  // One program that contains many commands: `busybox sh`.
  if (/^(?:busybox|toybox)$/.test(name)) return isBareShell(rest);
  return (isShell || isShellName(name)) && readsCommands(name, rest);
}

/** Returns a command line without a leading `env`. */
function withoutEnv(words: readonly string[]): readonly string[] {
  if (commandName(words[0] ?? "") !== "env") return words;
  const from = words.findIndex((word, i) => i > 0 && !word.startsWith("-") && !word.includes("="));
  return from < 0 ? words : withoutEnv(words.slice(from));
}

/** Whether a shell with these arguments reads commands from its terminal. */
function readsCommands(name: string, args: readonly string[]): boolean {
  for (let i = 0; i < args.length; i += 1) {
    const word = args[i] ?? "";
    if (word === "-" || word === "--") return i === args.length - 1;
    if (!/^[-+]/.test(word) || word === "--command" || isCluster(word, "c")) return false;
    if (isCluster(word, "s")) return true;
    const takesValue = /^--(?:rcfile|init-file|init-command)$|^[-+][A-Za-z]*[oO]$/.test(word);
    if (takesValue || (name === "fish" && word === "-C")) i += 1;
  }
  return true;
}

/** Whether a word is a group of short options with this letter. */
function isCluster(word: string, letter: string): boolean {
  return /^-[A-Za-z]{1,5}$/.test(word) && word.includes(letter);
}

/** Matches interpreters: their script is the program. */
const INTERPRETER = /^(?:node|nodejs|bun|deno|python[\d.]*|ruby|perl|php|(?:ba|z|da|k)?sh)$/;
/** Options of interpreters whose value is a program. */
const CODE = /^-(?:[A-Za-z]?[ceEp]|-eval|-print)$/;
/** Options of interpreters with another value. `-m` is not one of them: it names a module. */
const VALUE = /^-(?:[rWXIC]|-require|-import|-loader)$/;

/** Returns the name of a program for people: the name of a script, not of its interpreter. */
export function programName([program = "", ...rest]: readonly string[]): string {
  const name = commandName(program);
  const script = INTERPRETER.test(name) ? scriptOf(rest) : undefined;
  return (
    (script === undefined ? name : commandName(script).replace(/\.(?:[cm]?js|py|rb|pl|sh)$/, "")) || "program"
  );
}

/** Returns the script or module that an interpreter runs; undefined if its program is given as an option. */
function scriptOf(args: readonly string[]): string | undefined {
  const at = args.findIndex((word, i) => {
    return CODE.test(word) || !(word.startsWith("-") || VALUE.test(args[i - 1] ?? ""));
  });
  const word = args[at];
  return word === undefined || CODE.test(word) ? undefined : word;
}

/** Returns the name of a command. A login shell has a dash before its name. */
function commandName(word: string): string {
  return basename(word).replace(/^-/, "");
}
