import { dirname, join } from "node:path";
import { entryOf, listDir, readText, removeTree } from "../../os/files/fs.ts";
import { ownerLiveness } from "../../store/owner-lock.ts";
import type { TeamRef } from "../ref.ts";

/** Returns the path of the temporary copy of a task list while a team is renamed to this name. */
export function pathOfTaskCopy({ team, paths }: TeamRef, owner: string): string {
  return join(dirname(paths.tasks), `.${team}.copy-${owner}`);
}

/** Removes task lists that a killed rename copied to this name. The renamed team still has its own. */
export function removeAbandonedCopies(ref: TeamRef): void {
  const { paths } = ref;
  const start = pathOfTaskCopy(ref, "");
  const copies = listDir(dirname(paths.tasks)).map((name) => join(dirname(paths.tasks), name));
  for (const copy of copies.filter((path) => path.startsWith(start))) {
    if (ownerLiveness(copy.slice(start.length)) === "dead") removeTree(copy);
  }
  const owner = readText(paths.taskCopy);
  if (owner === undefined || entryOf(paths.config) !== undefined) return;
  if (ownerLiveness(owner) === "dead") removeTree(paths.tasks);
}
