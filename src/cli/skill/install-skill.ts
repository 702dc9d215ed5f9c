import { dirname, join } from "node:path";
import { fileAccessError, isSystemError, TeamError } from "../../errors.ts";
import type { Env } from "../../os/env.ts";
import { homeDirectory } from "../../os/files/app-directories.ts";
import { ensureDir, readText } from "../../os/files/fs.ts";
import { pathStat, writeUserFile } from "../../os/files/user-files.ts";
import { shellQuote } from "../../text/shell-quote.ts";
import { SKILL } from "./skill-text.ts";

/** The outcome for one copy of the skill. */
export interface InstalledSkill {
  readonly path: string;
  readonly change: "created" | "updated" | "unchanged";
}

/** The directories in which agents look for skills: the shared one, and Claude Code's. */
const PLACES = [".agents/skills", ".claude/skills"];
/** The first lines that identify a copy of our skill. */
const OWN = /^---\r?\nname: teams\r?\n/;

/** Returns the paths of the skill: in the user's home, or in a project. */
export function skillFiles(user: boolean, cwd: string, env: Env): readonly string[] {
  const base = user ? homeDirectory(env) : cwd;
  return PLACES.map((place) => join(base, place, "teams", "SKILL.md"));
}

/**
 * Writes the skill to each place. Idempotent; replaces an older copy.
 * @throws TeamError INVALID_INPUT if another file is there; nothing was changed then. PERMISSION_DENIED or STORAGE_ERROR if a file
 *   cannot be written; the error names the files that were already written
 */
export function installSkill(paths: readonly string[]): readonly InstalledSkill[] {
  const before = paths.map((path) => ({ path, text: ownText(path) }));
  const written: string[] = [];
  return before.map(({ path, text }): InstalledSkill => {
    if (text === SKILL) return { path, change: "unchanged" };
    try {
      ensureDir(dirname(path));
      writeUserFile(path, SKILL);
    } catch (error) {
      const rest = written.length === 0 ? "nothing was changed" : `already written: ${written.join(", ")}`;
      throw isSystemError(error) ? fileAccessError(path, "written", error, `; ${rest}`) : error;
    }
    written.push(path);
    return { path, change: text === undefined ? "created" : "updated" };
  });
}

/** @returns undefined if the file does not exist @throws TeamError INVALID_INPUT if it is not a copy of the skill */
function ownText(path: string): string | undefined {
  const { kind } = pathStat(path);
  if (kind === "missing") return undefined;
  const text = kind === "file" ? readText(path) : undefined;
  if (text !== undefined && OWN.test(text)) return text;
  throw new TeamError("INVALID_INPUT", `${path} is not the skill of teams; nothing was changed.`, {
    hint: `Move it away: mv ${shellQuote(path)} ${shellQuote(`${path}.old`)}`,
  });
}
