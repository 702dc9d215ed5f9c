import { basename, join } from "node:path";
import { messageOf } from "../../errors.ts";
import { realPathOf } from "../../os/files/real-path.ts";
import { readTextFile } from "../tools/text-file.ts";
import type { AgentType, NotesScope } from "./agent-types.ts";
import { fenced, type IsReadDenied } from "./memory-files.ts";

/** What agents of a type keep from one conversation to the next. */
export interface Notes {
  /** With every link resolved: what is written there needs no leave. */
  readonly directory: string;
  /** A section of the system prompt. */
  readonly section: string;
}

/** Lines and characters of the file that is loaded: each call of the model pays for it. */
const MAX_LINES = 200;
const MAX_CHARACTERS = 25_000;
const MAIN = "MEMORY.md";

/** Where it is kept, below the root or the project, as users of Claude Code have it. */
const PLACES: Readonly<Record<NotesScope, string>> = {
  user: "agent-memory",
  project: join(".claude", "agent-memory"),
  local: join(".claude", "agent-memory-local"),
};

/**
 * The notes of a type; undefined for one that keeps none.
 * @param project the directory that a type's `project` and `local` notes are kept in
 * @param isKeptBack asked of the file that is loaded
 * @returns a flaw in their place where a link leads out of where they belong: nothing is loaded, and no leave given
 */
export function openNotes(
  { name, memory }: AgentType,
  root: string,
  project: string,
  isKeptBack: IsReadDenied,
): Notes | { readonly flaw: string } | undefined {
  if (memory === undefined) return undefined;
  const home = memory === "user" ? root : project;
  const path = join(home, PLACES[memory], name.replaceAll(":", "-"));
  try {
    const directory = realPathOf(path);
    // Exactly there: a repository can bring a link to any other of its directories, and to any of the user's.
    if (memory !== "user" && directory !== join(realPathOf(home), PLACES[memory], basename(path)))
      return { flaw: `${path} is a link, or below one: no notes are kept there.` };
    return { directory, section: sectionOf(directory, (path) => isKeptBack(path, home)) };
  } catch (error) {
    return { flaw: `no notes are kept in ${path}: ${messageOf(error)}` };
  }
}

function sectionOf(directory: string, isKeptBack: (path: string) => boolean): string {
  const main = join(directory, MAIN);
  const isKept = isKeptBack(main);
  const file = realPathOf(main) === main && !isKept ? readTextFile(main) : undefined;
  const text = file?.flaw === undefined ? (file?.text ?? "").trim() : "";
  const lines = text.split("\n");
  const loaded = lines.slice(0, MAX_LINES).join("\n").slice(0, MAX_CHARACTERS);
  const cut = loaded.length < text.length ? `\n\n(The rest of ${MAIN} is not loaded: shorten it.)` : "";
  return `# Your notes

Agents of your kind keep notes from one conversation to the next, as Markdown files in ${directory}. You may write there \
without asking. Note what the next one of your kind would otherwise have to find out again: where things are, what is \
peculiar, what went wrong and why. Keep ${MAIN} short, since it is loaded each time; put details into files beside it and \
name them there. Remove what turned out to be wrong.

${loaded === "" ? (isKept ? `A rule for Read keeps ${MAIN} back.` : `There is no ${MAIN} yet.`) : `${fenced(main, loaded)}${cut}`}`;
}
