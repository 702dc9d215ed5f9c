import { commandsNamed } from "../commands/command-starts.ts";
import { UNKNOWN } from "../commands/pattern-meetings.ts";
import { riskyWords, withoutWrapper } from "../commands/risky-options.ts";
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
 * @param from the words of the command whose output it gets, if that is a single command
 */
export function mayRunInput(
  words: readonly string[],
  named: number,
  from: readonly string[] | undefined,
): boolean {
  const text = shownText(from ?? []);
  const programs = commandsNamed(words, ANY).flatMap(([program = "", ...args]) => {
    const name = baseName(program);
    // With a subcommand, its input is data.
    return name === "openssl" && args.length > 0 ? [] : [name];
  });
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

/** Programs whose options neither start a program nor write a file: any option may come from the input of xargs. */
const ANY_OPTION =
  /^(?:cat|ls|wc|head|tail|stat|du|basename|dirname|echo|[ef]?grep|md5sum|sha\d+sum|cksum|touch|mkdir|rmdir|rm|kill|readlink|realpath|nl|rev|cut|tac)$/;
/** Words that xargs may add: an option, the script or the subcommand of a program, a variable of make. */
const ADDED = ["-", "--", "1e ", "", "SHELL=/"].map((start) => `${start}${UNKNOWN}`);

/**
 * Returns whether a word from the input of xargs could be risky: `xargs git log` may run `git log --output=x`.
 * @param named number of words that the rule names
 * @param areFiles true if these words are paths that begin with a directory, so that none is an option
 */
export function mayAddRisky(words: readonly string[], named: number, areFiles: boolean): boolean {
  if (!/^g?xargs$/.test(baseName(words[0] ?? ""))) return false;
  const own = withoutWrapper(words, named);
  if (own === words || ANY_OPTION.test(baseName(own[0] ?? ""))) return false;
  const before = new Set(riskyWords(words, named).map(({ word }) => word));
  const replaced = words
    .slice(0, words.length - own.length)
    .map(
      (word, at, all) =>
        /^-[IJ](.+)$/.exec(word)?.[1] ?? (/^-[IJ]$/.test(all[at - 1] ?? "") ? word : undefined),
    )
    .find((text) => text !== undefined);
  const withAdded = (added: string): readonly string[] =>
    replaced === undefined ? [...words, added] : words.map((word) => word.replaceAll(replaced, () => added));
  return (areFiles ? [UNKNOWN] : ADDED).some((added) =>
    riskyWords(withAdded(added), named).some(({ word }) => !before.has(word)),
  );
}
