import type { AgentType } from "./agent-types.ts";
import { defaultPrompt } from "./default.ts";

export interface PromptParts {
  /** Stands instead of everything but what is appended. */
  readonly override?: string | undefined;
  /** A custom type's prompt: stands instead of the default and the built-in type's. */
  readonly custom?: string | undefined;
  readonly agentType: AgentType;
  readonly cwd: string;
  /** Sections at the end: the team, memory files, what a person added. */
  readonly append: readonly string[];
}

/** The system prompt: override, else custom, else default with the type's part; then what is appended (protocol.md section 8). */
export function composeSystem({ override, custom, agentType, cwd, append }: PromptParts): string {
  const base = override ?? custom ?? `${defaultPrompt({ cwd })}\n\n# Your part\n\n${agentType.prompt}`;
  return [base, ...append].filter((section) => section.trim() !== "").join("\n\n");
}
