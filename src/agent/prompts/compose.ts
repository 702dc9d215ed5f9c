import type { AgentType } from "./agent-types.ts";
import { defaultPrompt, type Surroundings } from "./default.ts";

export interface PromptParts extends Surroundings {
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
