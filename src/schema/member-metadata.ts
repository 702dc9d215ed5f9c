import * as z from "zod/mini";
import type { TeamMember } from "./config.ts";

/** Key in a member's metadata: what whoever started it had to say of its system prompt, for when it is started again. */
export const PROMPT_OVERRIDES = "_systemPrompt";

const promptOverrides = z.object({
  /** Stands in place of its type's and of what every agent is told. */
  override: z.optional(z.string()),
  /** Stands behind all else. */
  append: z.optional(z.string()),
});
export type PromptOverrides = z.infer<typeof promptOverrides>;

/** A record that does not parse says nothing. */
export function promptOverridesOf({ metadata }: Pick<TeamMember, "metadata">): PromptOverrides {
  return promptOverrides.safeParse(metadata?.[PROMPT_OVERRIDES]).data ?? {};
}

/** Key in a member's metadata: the directory that its type was found for, where that is not the one in which it works. */
export const TYPES_DIRECTORY = "_types";

/** The directory whose agent types count for a member, and in which such a type keeps a project's notes. */
export function typesDirectory({ metadata }: Pick<TeamMember, "metadata">, cwd: string): string {
  const directory = metadata?.[TYPES_DIRECTORY];
  return typeof directory === "string" ? directory : cwd;
}
