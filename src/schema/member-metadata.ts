import * as z from "zod/mini";
import type { TeamMember } from "./config.ts";

/** Key in a member's metadata: what whoever started it had to say of its system prompt, for when it is started again. */
export const PROMPT_WORDS = "_systemPrompt";

const promptWords = z.object({
  /** Stands in place of its type's and of what every agent is told. */
  override: z.optional(z.string()),
  /** Stands behind all else. */
  append: z.optional(z.string()),
});
export type PromptWords = z.infer<typeof promptWords>;

/** A record that does not parse says nothing. */
export function promptWordsOf({ metadata }: Pick<TeamMember, "metadata">): PromptWords {
  return promptWords.safeParse(metadata?.[PROMPT_WORDS]).data ?? {};
}

/** Key in a member's metadata: the directory that its type was found for, where that is not the one in which it works. */
export const TYPES_DIRECTORY = "_types";

/** The directory whose agent types count for a member, and in which such a type keeps a project's notes. */
export function typesDirectory({ metadata }: Pick<TeamMember, "metadata">, cwd: string): string {
  const directory = metadata?.[TYPES_DIRECTORY];
  return typeof directory === "string" ? directory : cwd;
}
