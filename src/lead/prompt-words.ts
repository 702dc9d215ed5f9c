import * as z from "zod/mini";
import type { TeamMember } from "../schema/config.ts";

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
