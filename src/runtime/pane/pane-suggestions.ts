import { basename, dirname, join, resolve } from "node:path";
import { isSystemError } from "../../errors.ts";
import { entryOf, listDir } from "../../os/files/fs.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import type { Completer, Suggestion } from "../../terminal/input/suggestions.ts";
import type { ProjectFiles } from "./project-files.ts";
import { isName, slashCommand, slashNames } from "./slash-commands.ts";

/** Minimum letters for a search of all files: a single letter occurs in nearly all of them. */
const MIN_LETTERS = 2;
/** Maximum names that are suggested. */
const MAX_NAMES = 50;

interface PaneSuggestionsOptions {
  readonly agent: string;
  readonly cwd: string;
  readonly files: ProjectFiles;
  /** Names of the other members. */
  teammates(): readonly string[];
}

/**
 * Returns the suggestions of a pane: a `/` command of this agent and its argument, or after `@` a teammate or a path. A path is
 * completed part by part, and a part of its name finds a file in any directory.
 */
export function paneSuggestions({ agent, cwd, files, teammates }: PaneSuggestionsOptions): Completer {
  return (word, command, more) => {
    if (command !== undefined) return matchingArguments(agent, command, word);
    if (word.startsWith("/")) return matchingCommands(agent, word);
    const typed = word.slice(1);
    const here = matchingPaths(cwd, typed);
    const anywhere = typed.length < MIN_LETTERS ? [] : files.like(typed, MAX_NAMES, more);
    const paths = [...new Set([...here, ...anywhere])].map((path) => ({
      insert: path.endsWith("/") ? `@${path}` : `@${path} `,
      label: path,
    }));
    const members = teammates()
      .filter((name) => name.toLowerCase().startsWith(typed.toLowerCase()))
      .map((name) => ({ insert: `@${name} `, label: name, note: name === LEAD_NAME ? "lead" : "teammate" }));
    return [...members, ...paths].slice(0, MAX_NAMES);
  };
}

function matchingCommands(agent: string, word: string): readonly Suggestion[] {
  return slashNames(agent)
    .filter((name) => `/${name}`.startsWith(word.toLowerCase()))
    .map((name) => {
      const { help, onlyShows } = slashCommand(name, agent);
      return { insert: `/${name} `, label: `/${name}`, note: help, runs: onlyShows === true };
    });
}

/** Enter sends the line with its argument: the person has selected it, or typed a part of it. */
function matchingArguments(agent: string, command: string, word: string): readonly Suggestion[] {
  const name = command.slice(1);
  if (!isName(name, slashNames(agent))) return [];
  const { choices = [] } = slashCommand(name, agent);
  return choices
    .filter((choice) => choice.startsWith(word))
    .map((choice) => ({ insert: choice, label: choice, runs: true }));
}

function matchingPaths(cwd: string, typed: string): readonly string[] {
  const directory = typed.endsWith("/") ? typed : dirname(typed);
  const begun = typed.endsWith("/") ? "" : basename(typed);
  const place = resolve(cwd, directory);
  // Suggest hidden files only after a typed dot.
  const names = namesIn(place).filter(
    (name) => name.startsWith(begun) && (begun !== "" || !name.startsWith(".")),
  );
  return names.slice(0, MAX_NAMES).flatMap((name) => {
    // A name with a space would look like two words, and no key types a name that is not UTF-8.
    if (/[\s\p{Cc}\ufffd]/u.test(name)) return [];
    const path = join(directory, name);
    return [isFolder(join(place, name)) ? `${path}/` : path];
  });
}

/** Returns the names in a directory; none if it cannot be read: then nothing is suggested. */
function namesIn(directory: string): readonly string[] {
  try {
    return listDir(directory);
  } catch (error) {
    if (isSystemError(error)) return [];
    throw error;
  }
}

/** Whether a path is a directory, or a link to one. */
function isFolder(path: string): boolean {
  try {
    return entryOf(`${path}/.`)?.isDirectory() === true;
  } catch (error) {
    if (isSystemError(error)) return false;
    throw error;
  }
}
