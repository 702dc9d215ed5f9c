import { TeamError } from "../../errors.ts";
import { didYouMean, nearestNames } from "../../schema/did-you-mean.ts";
import { COMMON_OPTIONS } from "../../terminal/call.ts";
import { longName } from "../../text/terminal-text.ts";

/** Names of other programs for our commands. The nearest name would often be a wrong one: `kill` for `tell`. */
const SYNONYMS: Readonly<Record<string, string>> = {
  ...{ new: "create", init: "create", list: "ls", ps: "status", members: "status", info: "status" },
  ...{ top: "status --watch", watch: "status --watch", tasks: "task list", config: "settings" },
  ...{ add: "spawn", start: "spawn", open: "attach", continue: "resume", restart: "resume" },
  ...{ stop: "shutdown", end: "shutdown", quit: "down", exit: "down", remove: "delete", rm: "delete" },
  ...{ message: "send", msg: "send", tell: "send", say: "send", log: "logs", tail: "logs -f" },
  ...{ yes: "approve", accept: "approve", allow: "approve", no: "reject", deny: "reject" },
  ...{ review: "diff", merge: "land", version: "--version" },
  ...{ "task ls": "task list", "task new": "task add", "task create": "task add" },
  ...{ "task complete": "task done", "task finish": "task done", "task close": "task done" },
  ...{ "task delete": "task rm", "task remove": "task rm" },
  ...{ "task edit": "task update", "task change": "task update" },
  ...{ "task start": "task claim", "task take": "task claim" },
};

/**
 * Returns the error for a command line whose first words are not a command.
 * @param families first words that need a second word to be a command
 */
export function unknownWord(
  [first = "", second = ""]: readonly string[],
  commands: readonly string[],
  families: readonly string[],
): TeamError {
  if (first.startsWith("-")) return unknownOption(first);
  if (families.includes(first) && second.startsWith("-")) {
    return new TeamError("INVALID_INPUT", `teams ${first} needs a command before ${second}.`, {
      hint: `See its commands: teams ${first} --help`,
    });
  }
  const typed = families.includes(first) ? `${first} ${second}` : first;
  const synonym = Object.hasOwn(SYNONYMS, typed) ? SYNONYMS[typed] : undefined;
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
