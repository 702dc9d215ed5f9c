import type { Hooks } from "../../agent/hooks/hooks.ts";
import type { HookEvent } from "../../agent/hooks/settings.ts";
import { agentId, agentName } from "../../schema/names.ts";
import type { TeamRef } from "../../team/ref.ts";

interface IdleHookOptions {
  readonly hooks: Hooks;
  /** The lead has no `TeammateIdle` hook. */
  readonly role: "teammate" | "lead";
  readonly name: string;
  readonly ref: TeamRef;
  agentType(): string;
  readonly transcript: string;
  /** How many times in a row hooks may make the agent continue. */
  readonly maxContinuations: number;
  notice(event: HookEvent, text: string): void;
}

/** Runs the hooks for an agent with nothing left to do; they may make it continue a limited number of times (S65). */
export class IdleHook {
  readonly #options: IdleHookOptions;
  #continuations = 0;

  constructor(options: IdleHookOptions) {
    this.#options = options;
  }

  /** @param isOnlyHook true if a hook's text is the only input of the turn */
  startTurn(isOnlyHook: boolean): void {
    if (!isOnlyHook) this.#continuations = 0;
  }

  /** Returns a hook's instruction that makes the agent continue; undefined if it may go idle. */
  async run(signal: AbortSignal): Promise<string | undefined> {
    const { hooks, maxContinuations, notice } = this.#options;
    for (const [event, input] of this.#hookInputs()) {
      if (!hooks.has(event)) continue;
      if (this.#continuations >= maxContinuations) {
        notice(
          event,
          `not run: hooks have already made this agent continue ${maxContinuations} times in a row`,
        );
        return undefined;
      }
      const again = { stop_hook_active: this.#continuations > 0 };
      const { stopped, endsAgent: ends } = await hooks.run(event, { ...input, ...again }, signal);
      if (stopped === undefined || ends) continue;
      this.#continuations += 1;
      return `[from the user's ${event} hook]\n${stopped}`;
    }
    return undefined;
  }

  #hookInputs(): readonly (readonly [HookEvent, Readonly<Record<string, unknown>>])[] {
    const { role, name, ref, agentType, transcript } = this.#options;
    const id = agentId(agentName(name), ref.team);
    const stop = { agent_id: id, agent_type: agentType(), agent_transcript_path: transcript };
    const idle = { teammate_name: name, team_name: ref.team };
    return role === "lead"
      ? [["Stop", stop]]
      : [
          ["Stop", stop],
          ["TeammateIdle", idle],
        ];
  }
}
