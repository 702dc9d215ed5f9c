import { TeamError } from "../../errors.ts";
import { entryOf, removeFile, rename } from "../../os/files/fs.ts";
import { planPath } from "../../protocol/paths.ts";
import type { TeamConfig } from "../../schema/config.ts";
import type { TeamRef } from "../ref.ts";

/** Puts aside what a former holder of a name has planned, so that nobody approves it for the new one. */
export function quarantinePlan(ref: TeamRef, agent: string): void {
  const path = pathOf(ref, agent);
  if (entryOf(path) !== undefined) rename(path, asideOf(path));
}

/** Removes what those in a team planned, and those who have left it; of a team that cannot be read nobody knows whose they are. */
export function removePlans(ref: TeamRef, read: () => TeamConfig): void {
  for (const { name } of planners(read)) {
    const path = pathOf(ref, name);
    removeFile(path);
    removeFile(asideOf(path));
  }
}

function planners(read: () => TeamConfig): readonly { readonly name: string }[] {
  try {
    const { members, former = [] } = read();
    return [...members, ...former];
  } catch (error) {
    if (error instanceof TeamError && error.code === "CORRUPT_FILE") return [];
    throw error;
  }
}

function pathOf({ home, team }: TeamRef, agent: string): string {
  return planPath(home.root, team, agent);
}

/** No agent's own: a point in a name is written in another way. */
function asideOf(path: string): string {
  return path.replace(/\.md$/, ".old.md");
}

/** Characters of a plan's title. */
const TITLE = 80;

/** What a plan is called where it is listed: its first line. */
export function planTitle(plan: string): string {
  const first = plan.split("\n").find((line) => line.trim() !== "") ?? "";
  return first.replace(/^#+\s*/, "").slice(0, TITLE);
}
