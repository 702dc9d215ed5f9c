import { dirname, relative, sep } from "node:path";
import { gitDirectoriesOf } from "../../git/repository.ts";
import { readTeam } from "../config/config.ts";
import { lookUpMember } from "../members/members.ts";
import type { TeamRef } from "../ref.ts";
import { type Reservation, reservations } from "./touches.ts";

/**
 * Returns a sentence that names the running task of another member that has reserved a file; undefined if none has. A file is the
 * same one in all worktrees of a repository.
 * @param path absolute
 */
export function reservedReason(ref: TeamRef, actor: string, path: string): string | undefined {
  const found = reservations(ref, actor);
  if (found.length === 0) return undefined;
  const config = readTeam(ref);
  const places = new Map<string, string | undefined>();
  for (const one of found) {
    const cwd = lookUpMember(config, one.owner)?.cwd;
    if (cwd === undefined) continue;
    if (!places.has(cwd)) places.set(cwd, pathIn(cwd, path));
    const inProject = places.get(cwd);
    const pattern = inProject === undefined ? undefined : one.covers(inProject);
    if (pattern !== undefined && inProject !== undefined) return sentence(inProject, one, pattern);
  }
  return undefined;
}

function sentence(path: string, { owner, taskId }: Reservation, pattern: string): string {
  const by = pattern === path ? "" : ` (${pattern})`;
  return `${path} is reserved${by} by task #${taskId} of ${owner}, which is in progress. Agree with ${owner} first.`;
}

/** Returns a path relative to the project of a directory: the repository that both are in, else the directory itself. */
function pathIn(directory: string, path: string): string | undefined {
  const project = gitDirectoriesOf(directory);
  const own = gitDirectoriesOf(dirname(path));
  if (project !== undefined && own !== undefined) {
    return project.common === own.common ? inside(own.top, path) : undefined;
  }
  return inside(directory, path);
}

function inside(directory: string, path: string): string | undefined {
  const way = relative(directory, path);
  return way === "" || way === ".." || way.startsWith(`..${sep}`) || way.startsWith(sep) ? undefined : way;
}
