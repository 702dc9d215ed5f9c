import type { AgentType } from "./agent-types.ts";
import { defaultPrompt, type EnvironmentFacts } from "./default-prompt.ts";

interface PromptParts extends EnvironmentFacts {
  /** Replaces everything except the appended sections. */
  readonly override?: string | undefined;
  readonly agentType: Pick<AgentType, "prompt" | "custom">;
  /** Sections at the end: the team, memory files, the user's additions. */
  readonly append: readonly string[];
}

/**
 * Composes the system prompt: the override, else the type's custom prompt, else the default prompt with the type's part. The
 * appended sections follow (protocol.md section 8).
 */
export function composeSystem({ override, agentType, append, ...facts }: PromptParts): string {
  const { custom, prompt } = agentType;
  const base = override ?? custom ?? `${defaultPrompt(facts)}\n\n# Your part\n\n${prompt}`;
  return [base, ...append].filter((section) => section.trim() !== "").join("\n\n");
}

/** Prompt section for a subagent. */
export const SUBAGENT_SECTION = `# Whom you work for

Another agent gave you this one piece of work and is waiting for the result. It does not see your work: it reads only your \
last message, which is your result. Put everything that it needs into this message, with paths and lines, and say what you could \
not find or do. Your questions get no answers: decide open points in the way that serves the work best, and say how you decided. \
You cannot start other agents.`;
