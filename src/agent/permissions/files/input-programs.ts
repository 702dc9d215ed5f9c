import { commandsNamed } from "../commands/command-starts.ts";
import { baseName, runnerOf, runsInput } from "../commands/runners.ts";
import { isPlainQuery, SQL_CLIENT } from "../commands/tables/sql.ts";

/** Programs, besides shells and interpreters, that take commands from their input: they can start programs, or write files. */
const TAKES_COMMANDS =
  /^(?:duckdb|isql|sqlplus|sqlcmd|usql|pgcli|mycli|litecli|t?ftp|tnftp|lftp|sftp|ncftp|smbclient|r?ed|ex|n?vim?|view|gdb|lldb|cgdb|dc|m4|gnuplot|octave|maxima|gp|mongo|mongosh|telnet|openssl|[sg]?fdisk|parted|debugfs|expect|cscope|mutt|tmux|jshell|iex|erl|sbcl|clisp|racket|swipl|clojure|clj|bb|kotlinc|raku|nu)$/;

/** Calculators with no command that starts a program, if the line shows their input. */
const CALCULATES = /^bc$/;
const PLAIN_CALCULATION = /^[\w\s.+*/^%()=<>;,-]*$/;

const ANY = new RegExp(`${TAKES_COMMANDS.source}|${SQL_CLIENT.source}|${CALCULATES.source}`);

/**
 * Returns whether a command may run commands from its input, which no rule names: `echo '\! rm x' | psql`.
 * @param named number of words that the rule names: a rule for an interpreter with any words allows all its code
 * @param from the words of the command whose output it gets, if it is one
 */
export function mayRunInput(
  words: readonly string[],
  named: number,
  from: readonly string[] | undefined,
): boolean {
  const text = shownText(from ?? []);
  const programs = commandsNamed(words, ANY).map(([program = ""]) => baseName(program));
  const isPlain = (name: string): boolean =>
    text !== undefined &&
    ((SQL_CLIENT.test(name) && isPlainQuery(text)) ||
      (CALCULATES.test(name) && PLAIN_CALCULATION.test(text)));
  if (programs.some((name) => !isPlain(name))) return true;
  if (runsInput(words) === undefined) return false;
  return named > 1 || runnerOf(words[0] ?? "") === undefined;
}

/** Returns the output of `echo` if it is the same in all shells; undefined for other commands. */
function shownText([name, ...words]: readonly string[]): string | undefined {
  const text = words.join(" ");
  return name === "echo" && !text.startsWith("-") && !/[\\$`]/.test(text) ? text : undefined;
}

/** Returns whether the input of xargs has only names of files that begin with a directory, so that none is an option. */
export function getsFoundFiles(words: readonly string[], from: readonly string[] | undefined): boolean {
  const [name, ...args] = from ?? [];
  const isNull = words.some((word) => /^(?:-[a-zA-Z\d]*0\w*|--null)$/.test(word));
  return (
    isNull &&
    name === "find" &&
    args.includes("-print0") &&
    !args.some((word) => /^-(?:f?print(?:0|f|)|f?ls)$/.test(word) && word !== "-print0")
  );
}
