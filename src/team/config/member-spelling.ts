import { readText } from "../../os/files/fs.ts";
import { sameName } from "../../schema/names.ts";
import type { TeamRef } from "../ref.ts";

/**
 * How a team's file spells a member's name. It is looked at without its schema, which takes a start as long to load as all
 * that it does until it is ready.
 * @returns undefined wherever it takes a whole reading to tell, and to say what is wrong
 * @throws a system error when the file cannot be read
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
    // Broken, or a foreign writer is in the middle: the whole reading looks twice.
    return [];
  }
}

function nameOf(member: unknown): string | undefined {
  const name = (member as { name?: unknown } | null)?.name;
  return typeof name === "string" ? name : undefined;
}
