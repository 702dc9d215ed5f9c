import type { Agent } from "../agent/agent.ts";

/** An agent that is made at the first need, once. */
export class LazyAgent {
  readonly #make: () => Promise<Agent>;
  readonly #failed: () => void;
  #agent: Promise<Agent> | undefined;
  #made: Agent | undefined;
  #flaw: { readonly error: unknown } | undefined;

  /** @param failed told when it could not be made */
  constructor(make: () => Promise<Agent>, failed: () => void) {
    this.#make = make;
    this.#failed = failed;
  }

  /** The agent, if there is one by now. */
  get made(): Agent | undefined {
    return this.#made;
  }

  /** How much it runs in the background. */
  get inBackground(): number {
    return this.#made?.runningInBackground ?? 0;
  }

  get(): Promise<Agent> {
    this.#agent ??= this.#make().then(
      (agent) => {
        this.#made = agent;
        return agent;
      },
      (error: unknown) => {
        this.#flaw = { error };
        this.#failed();
        throw error;
      },
    );
    return this.#agent;
  }

  /** Without a model or its tools there is nothing to wait for. @throws why it could not be made */
  assertPossible(): void {
    if (this.#flaw !== undefined) throw this.#flaw.error;
  }
}
