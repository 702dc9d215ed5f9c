import { basename, dirname, join, resolve } from "node:path";
import { isSystemError } from "../../errors.ts";
import { entryOf, listDir } from "../../os/files/fs.ts";
import type { Completer, Suggestion } from "../../terminal/input/suggestions.ts";
import { slashCommand, slashNames } from "./slash-commands.ts";

/** Maximum names of a directory that are offered. */
const MAX_NAMES = 50;

/** Returns what a word of a pane can become: a `/` command of this agent, or an `@` path in its directory. */
export function paneSuggestions(agent: string, cwd: string, word: string): ReturnType<Completer> {
  return word.startsWith("/") ? commandsLike(agent, word) : pathsLike(cwd, word.slice(1));
}

function commandsLike(agent: string, word: string): readonly Suggestion[] {
  return slashNames(agent)
    .map((name) => ({ insert: `/${name} `, label: `/${name}`, note: slashCommand(name, agent).help }))
    .filter(({ label }) => label.startsWith(word));
}

function pathsLike(cwd: string, typed: string): readonly Suggestion[] {
  const directory = typed.endsWith("/") ? typed : dirname(typed);
  const begun = typed.endsWith("/") ? "" : basename(typed);
  const place = resolve(cwd, directory);
  // Hidden files only if they are asked for.
  const names = namesIn(place).filter(
    (name) => name.startsWith(begun) && (begun !== "" || !name.startsWith(".")),
  );
  return names.slice(0, MAX_NAMES).flatMap((name) => {
    // A name with a blank would look like two words.
    if (/[\s\p{Cc}]/u.test(name)) return [];
    const path = join(directory, name);
    const isDirectory = isFolder(join(place, name));
    return [{ insert: isDirectory ? `@${path}/` : `@${path} `, label: `${path}${isDirectory ? "/" : ""}` }];
  });
}

/** None for a directory that cannot be read: then nothing is offered. */
function namesIn(directory: string): readonly string[] {
  try {
    return listDir(directory);
  } catch (error) {
    if (isSystemError(error)) return [];
    throw error;
  }
}

/** Links are followed: a link to a directory is completed as one. */
function isFolder(path: string): boolean {
  try {
    return entryOf(`${path}/.`)?.isDirectory() === true;
  } catch (error) {
    if (isSystemError(error)) return false;
    throw error;
  }
}
