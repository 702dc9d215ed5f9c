import type { AgentEvent } from "../agent/events.ts";

/** A call that waits for a person's yes or no. */
export interface PermissionPrompt {
  readonly id: string;
  readonly tool: string;
  readonly summary: string;
  /** What the subagent does that makes it; the agent itself without it. */
  readonly subagent?: string | undefined;
  /** Why it asks. */
  readonly reason: string;
  /** The rules that an “always” makes; none where it would make none. */
  readonly rules: readonly string[];
  /** What it would change, line by line. */
  readonly change: readonly string[];
}

/** What a worker shows to the person who looks at its pane. An implementation must not throw. */
export interface WorkerView {
  event(event: AgentEvent): void;
  /** A message begins a turn. */
  received(from: string, text: string, color?: string): void;
  /** A message came while a turn runs; it waits. */
  queued(from: string, line?: string): void;
  /** A person's line, typed here. */
  typed(line: string): void;
  idle(): void;
  /**
   * It waits for somebody: what for, and who can answer.
   * @param whom `lead` where that is the lead's side, a running lead or else the person; the person without it
   */
  waiting(what: string, whom?: "lead" | "person"): void;
  permission(ask: PermissionPrompt): void;
  /** One line of news that belongs to no turn. */
  note(text: string): void;
  error(text: string): void;
}
