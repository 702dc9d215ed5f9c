import type { AgentEvent } from "../agent/events.ts";

/** What a worker shows to the person who looks at its pane. An implementation must not throw. */
export interface WorkerView {
  event(event: AgentEvent): void;
  /** A message begins a turn. */
  received(from: string, text: string, color?: string): void;
  /** A message came while a turn runs; it waits. */
  queued(from: string): void;
  /** A person's line, typed here. */
  typed(line: string): void;
  idle(): void;
  /**
   * It waits for somebody: what for, and who can answer.
   * @param whom `lead` where that is the lead's side, a running lead or else the person; the person without it
   */
  waiting(what: string, whom?: "lead" | "person"): void;
  /** @param always the rules that an “always” makes; none where it would make none */
  permission(tool: string, summary: string, requestId: string, always: readonly string[]): void;
  /** One line of news that belongs to no turn. */
  note(text: string): void;
  error(text: string): void;
}
