import type { AgentType } from "./agent-types.ts";
import { defaultPrompt, type EnvironmentFacts } from "./default-prompt.ts";

export interface PromptParts extends EnvironmentFacts {
  /** Stands instead of everything but what is appended. */
  readonly override?: string | undefined;
  readonly agentType: Pick<AgentType, "prompt" | "custom">;
  /** Sections at the end: the team, memory files, what a person added. */
  readonly append: readonly string[];
}

/** The system prompt: override, else the type's own, else default with the type's part; then what is appended (protocol.md section 8). */
export function composeSystem({ override, agentType, append, ...surroundings }: PromptParts): string {
  const { custom, prompt } = agentType;
  const base = override ?? custom ?? `${defaultPrompt(surroundings)}\n\n# Your part\n\n${prompt}`;
  return [base, ...append].filter((section) => section.trim() !== "").join("\n\n");
}

/** What an agent is told that works for another one inside of its turn. */
export const SUBAGENT_SECTION = `# Whom you work for

Another agent gave you this one piece of work and waits for the result. It sees nothing of what you do: your last message is \
your result, and the only thing that it reads. Put into it all that it needs, with paths and lines, and say what you could not \
find or do. Nobody answers questions: decide what is open in the way that serves the work best, and say how you decided. You \
cannot start agents of your own.`;
