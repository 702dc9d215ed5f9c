import type { TeamMember } from "../schema/config.ts";

/** Key in a member's metadata: the directory that its type was found for, where that is not the one in which it works. */
export const TYPES_DIRECTORY = "_types";

/** The directory whose agent types count for a member, and in which such a type keeps a project's notes. */
export function typesDirectory({ metadata }: Pick<TeamMember, "metadata">, cwd: string): string {
  const directory = metadata?.[TYPES_DIRECTORY];
  return typeof directory === "string" ? directory : cwd;
}
