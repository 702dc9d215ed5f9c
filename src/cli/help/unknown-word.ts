import { TeamError } from "../../errors.ts";
import { didYouMean, nearestNames } from "../../schema/did-you-mean.ts";
import { COMMON_OPTIONS } from "../../terminal/call.ts";
import { longName } from "../../text/terminal-text.ts";

/** Names of other programs for our commands. */
const SYNONYMS: Readonly<Record<string, string>> = {
  add: "spawn",
  deny: "reject",
  list: "ls",
  message: "send",
  new: "create",
  ps: "status",
  remove: "delete",
  rm: "delete",
  start: "spawn",
  stop: "shutdown",
  tasks: "task list",
};

/**
 * Returns the error for a command line whose first words are no command.
 * @param families first words that need a second word to be a command
 */
export function unknownWord(
  [first = "", second = ""]: readonly string[],
  commands: readonly string[],
  families: readonly string[],
): TeamError {
  if (first.startsWith("-")) return unknownOption(first);
  const typed = families.includes(first) ? `${first} ${second}` : first;
  const synonym = Object.hasOwn(SYNONYMS, first) ? SYNONYMS[first] : undefined;
  const nearest = synonym ?? nearestNames(typed, commands)[0];
  return new TeamError("INVALID_INPUT", `There is no command ${JSON.stringify(typed)}.`, {
    hint: `${nearest === undefined ? "" : `Did you mean \`teams ${nearest}\`? `}All commands: teams --help`,
  });
}

function unknownOption(word: string): TeamError {
  const known = ["--help", "--version", ...Object.keys(COMMON_OPTIONS).map((key) => `--${longName(key)}`)];
  return new TeamError("INVALID_INPUT", `There is no option ${JSON.stringify(word)} before a command.`, {
    hint: didYouMean(word, known, "A command's own options come after it: teams <command> --help"),
  });
}
