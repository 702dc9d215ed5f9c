import type { AgentEvent } from "../agent/events.ts";
import type { PermissionMode } from "../schema/permission-modes.ts";

/** A permission request as shown in the pane. */
export interface PermissionPrompt {
  readonly id: string;
  /** The id of the call. */
  readonly call: string;
  readonly tool: string;
  readonly summary: string;
  /** The path that the summary begins or ends with. */
  readonly path?: string | undefined;
  /** Description of the subagent that makes the call; undefined for the agent itself. */
  readonly subagent?: string | undefined;
  /** Why the call needs a permission. */
  readonly reason: string;
  /** The rules that “always” would add; empty if no rule can allow the call. */
  readonly rules: readonly string[];
  /** Lines of a preview of the change to a file. */
  readonly change: readonly string[];
  /** Shows the whole request: its first view was shortened. */
  readonly whole?: true;
}

/** For this many milliseconds after a request appears, a key cannot be meant for it. */
export const REQUEST_GUARD_MS = 400;

/** Returns the note about a changed mode. */
export function modeNote(mode: PermissionMode): string {
  return `permission mode is now ${mode}`;
}

/** The pane of a worker. An implementation must not throw. */
export interface WorkerView {
  event(event: AgentEvent): void;
  /** A message begins a turn. */
  received(from: string, text: string, color?: string): void;
  /** A message came while a turn runs; it waits. */
  queued(from: string, line?: string): void;
  /** Shows that saving a typed line takes a while. @returns a function that removes the notice */
  saving(line: string): () => void;
  /** A line of the user begins a turn. @param key of its message; undefined in a replayed conversation, and for a command of the pane */
  typed(line: string, key?: string): void;
  idle(): void;
  /**
   * The agent waits for an answer.
   * @param by who answers: `lead` for a running lead, or the person if no lead runs; `person` by default
   * @param request the id of the request that waits, if there is one
   */
  waiting(reason: string, by?: "lead" | "person", request?: string): void;
  /** @returns whether it is shown whole; a shortened request cannot be allowed in the pane */
  permission(ask: PermissionPrompt): boolean;
  /** The shown permission request no longer waits, and no other one does. */
  permissionClosed(): void;
  /** The permission mode, at the start and after each change. */
  mode(mode: PermissionMode): void;
  /**
   * Shows one line outside any turn.
   * @param about `typed-line`: it says why a typed line is not the answer to the open request
   */
  note(text: string, about?: "typed-line"): void;
  error(text: string): void;
}
