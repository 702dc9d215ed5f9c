import { readText } from "../../os/files/fs.ts";
import { sameName } from "../../schema/names.ts";
import type { TeamRef } from "../ref.ts";

/**
 * Returns the spelling of a member's name in the team's config. Does not use the schema: loading it takes as long as
 * the rest of an agent's start.
 * @returns undefined if only a full read of the config can decide, or report the problem
 * @throws a system error if the file cannot be read
 */
export function spelledName(ref: TeamRef, name: string): string | undefined {
  const members = membersIn(readText(ref.paths.config) ?? "");
  return members.map(nameOf).find((spelled) => spelled !== undefined && sameName(spelled, name));
}

function membersIn(text: string): readonly unknown[] {
  try {
    const members = (JSON.parse(text) as { members?: unknown } | null)?.members;
    return Array.isArray(members) ? members : [];
  } catch {
    // Broken, or another program is writing it: a full read tries again.
    return [];
  }
}

function nameOf(member: unknown): string | undefined {
  const name = (member as { name?: unknown } | null)?.name;
  return typeof name === "string" ? name : undefined;
}
