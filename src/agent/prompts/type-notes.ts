import { basename, join } from "node:path";
import { messageOf } from "../../errors.ts";
import { realPathOf } from "../../os/files/symlinks.ts";
import { textStart } from "../../text/characters/cut-text.ts";
import { readTextFile } from "../tools/text-file.ts";
import type { AgentType, NotesScope } from "./agent-types.ts";
import { fenced, type IsReadDenied } from "./memory-files.ts";

/** The notes that agents of a type keep between conversations. */
export interface Notes {
  /** With every link resolved. Writes there need no permission. */
  readonly directory: string;
  /** A section of the system prompt. */
  readonly section: string;
}

/** Maximum lines and characters of the loaded file, because each model call pays for it. */
const MAX_LINES = 200;
const MAX_CHARACTERS = 25_000;
const MAIN = "MEMORY.md";

/** Directories below the root or the project, the same as in Claude Code. */
const PLACES: Readonly<Record<NotesScope, string>> = {
  user: "agent-memory",
  project: join(".claude", "agent-memory"),
  local: join(".claude", "agent-memory-local"),
};

/**
 * Opens the notes of a type.
 * @param project directory of a type's `project` and `local` notes
 * @param isReadDenied checked for the loaded file
 * @returns undefined for a type without notes; a problem if the directory is a link to another place: nothing is then loaded, and
 *   writes need permission
 */
export function openNotes(
  { name, memory }: AgentType,
  root: string,
  project: string,
  isReadDenied: IsReadDenied,
): Notes | { readonly problem: string } | undefined {
  if (memory === undefined) return undefined;
  const home = memory === "user" ? root : project;
  const path = join(home, PLACES[memory], name.replaceAll(":", "-"));
  try {
    const directory = realPathOf(path);
    // Exactly this directory: a repository may contain a link to another of its directories, or to one of the user's.
    if (memory !== "user" && directory !== join(realPathOf(home), PLACES[memory], basename(path)))
      return { problem: `${path} is a link or below a link, so notes are disabled.` };
    return { directory, section: sectionOf(directory, (path) => isReadDenied(path, home)) };
  } catch (error) {
    return { problem: `notes in ${path} are disabled: ${messageOf(error)}` };
  }
}

function sectionOf(directory: string, isReadDenied: (path: string) => boolean): string {
  const main = join(directory, MAIN);
  const isDenied = isReadDenied(main);
  const file = realPathOf(main) === main && !isDenied ? readTextFile(main) : undefined;
  const text = file?.problem === undefined ? (file?.text ?? "").trim() : "";
  const lines = text.split("\n");
  const loaded = textStart(lines.slice(0, MAX_LINES).join("\n"), MAX_CHARACTERS);
  const cut = loaded.length < text.length ? `\n\n(The rest of ${MAIN} is not loaded: shorten it.)` : "";
  return `# Your notes

Agents of your type keep notes between conversations, as Markdown files in ${directory}. You may write there without asking. \
Note what the next agent of your type would otherwise have to find out again: where things are, what is unusual, what went \
wrong and why. Keep ${MAIN} short, because it is loaded each time; put details into other files in this directory and name \
them in ${MAIN}. Remove notes that turn out to be wrong.

${loaded === "" ? (isDenied ? `A rule for Read denies ${MAIN}.` : `There is no ${MAIN} yet.`) : `${fenced(main, loaded)}${cut}`}`;
}
