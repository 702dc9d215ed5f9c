import type { Hooks } from "../../agent/hooks/hooks.ts";
import type { HookEvent } from "../../agent/hooks/settings.ts";

interface RestGateOptions {
  readonly hooks: Hooks;
  /** The lead has no `TeammateIdle`. */
  readonly role: "teammate" | "lead";
  readonly name: string;
  readonly team: string;
  readonly agentId: string;
  readonly agentType: string;
  readonly transcript: string;
  /** Times in a row that hooks may send it on. */
  readonly maxContinuations: number;
  notice(event: HookEvent, text: string): void;
}

/** Asks the hooks whether an agent that has nothing left to do may rest, and sends it on only so often in a row (S65). */
export class IdleHook {
  readonly #options: RestGateOptions;
  #sentOn = 0;

  constructor(options: RestGateOptions) {
    this.#options = options;
  }

  /** A turn begins. @param byHook it has nothing to read but what a hook said */
  began(byHook: boolean): void {
    if (!byHook) this.#sentOn = 0;
  }

  /** What a hook says that sends it on; undefined when it may rest. */
  async ask(signal: AbortSignal): Promise<string | undefined> {
    const { hooks, maxContinuations, notice } = this.#options;
    for (const [event, input] of this.#questions()) {
      if (!hooks.has(event)) continue;
      if (this.#sentOn >= maxContinuations) {
        notice(event, `not asked: hooks have made it continue ${maxContinuations} times in a row`);
        return undefined;
      }
      const again = { stop_hook_active: this.#sentOn > 0 };
      const { stopped, endsAgent: ends } = await hooks.run(event, { ...input, ...again }, signal);
      if (stopped === undefined || ends) continue;
      this.#sentOn += 1;
      return `[said by a ${event} hook of the user's]\n${stopped}`;
    }
    return undefined;
  }

  #questions(): readonly (readonly [HookEvent, Readonly<Record<string, unknown>>])[] {
    const { role, name, team, agentId, agentType, transcript } = this.#options;
    const stop = { agent_id: agentId, agent_type: agentType, agent_transcript_path: transcript };
    const idle = { teammate_name: name, team_name: team };
    return role === "lead"
      ? [["Stop", stop]]
      : [
          ["Stop", stop],
          ["TeammateIdle", idle],
        ];
  }
}
