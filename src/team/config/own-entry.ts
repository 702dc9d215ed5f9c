import { readText } from "../../os/files/fs.ts";
import { isSessionId, SESSION_KEY, sameName } from "../../schema/names.ts";
import type { TeamRef } from "../ref.ts";

/** The part of a member's entry in the team's config that its starting agent needs. */
export interface OwnEntry {
  /** As the config spells it. */
  readonly name: string;
  /** The session id of its conversation; undefined if another program added the member. */
  readonly session: string | undefined;
}

/**
 * Returns a member's entry in the team's config. Does not use the schema: loading it takes as long as the rest of an agent's
 * start.
 * @returns undefined if only a full read of the config can decide, or report the problem
 * @throws a system error if the file cannot be read
 */
export function ownEntry(ref: TeamRef, name: string): OwnEntry | undefined {
  for (const member of membersIn(readText(ref.paths.config) ?? "")) {
    const spelled = nameOf(member);
    if (spelled !== undefined && sameName(spelled, name))
      return { name: spelled, session: sessionOf(member) };
  }
  return undefined;
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

function sessionOf(member: unknown): string | undefined {
  const { metadata } = member as { readonly metadata?: unknown };
  const session = (metadata as Readonly<Record<string, unknown>> | null | undefined)?.[SESSION_KEY];
  return isSessionId(session) ? session : undefined;
}

function nameOf(member: unknown): string | undefined {
  const name = (member as { name?: unknown } | null)?.name;
  return typeof name === "string" ? name : undefined;
}
