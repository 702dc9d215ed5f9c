import { TeamError } from "../../errors.ts";
import { entryOf, removeFile, rename } from "../../os/files/fs.ts";
import { planPath } from "../../protocol/paths.ts";
import type { TeamConfig } from "../../schema/config.ts";
import { shortened } from "../../text/characters/cut-text.ts";

import type { TeamRef } from "../ref.ts";

/** Renames the plan of a former holder of a name, so that it cannot be approved for the new one. */
export function quarantinePlan(ref: TeamRef, agent: string): void {
  const path = pathOf(ref, agent);
  if (entryOf(path) !== undefined) rename(path, asideOf(path));
}

/** Removes the plans of current and former members; none if the config is unreadable, since their owners are unknown then. */
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

/** Never the plan of another agent: a dot in a name is percent-encoded. */
function asideOf(path: string): string {
  return path.replace(/\.md$/, ".old.md");
}

/** Maximum length of a plan's title, in characters. */
const TITLE = 80;

/** Returns a plan's title for lists: its first line. */
export function planTitle(plan: string): string {
  const first = plan.split("\n").find((line) => line.trim() !== "") ?? "";
  return shortened(first.replace(/^#+\s*/, ""), TITLE);
}
