import type { Agent } from "../agent/agent.ts";

/** Creates the agent when it is first needed, once. */
export class LazyAgent {
  readonly #create: () => Promise<Agent>;
  readonly #onFailure: () => void;
  #agent: Promise<Agent> | undefined;
  #current: Agent | undefined;
  #failure: { readonly error: unknown } | undefined;

  /** @param onFailure called if the agent cannot be created */
  constructor(create: () => Promise<Agent>, onFailure: () => void) {
    this.#create = create;
    this.#onFailure = onFailure;
  }

  /** The agent if it exists already. */
  get current(): Agent | undefined {
    return this.#current;
  }

  /** Number of its background tasks. */
  get backgroundCount(): number {
    return this.#current?.runningInBackground ?? 0;
  }

  get(): Promise<Agent> {
    this.#agent ??= this.#create().then(
      (agent) => {
        this.#current = agent;
        return agent;
      },
      (error: unknown) => {
        this.fail(error);
        throw error;
      },
    );
    return this.#agent;
  }

  /** Begins to create the agent. {@link throwIfFailed} reports a failure. */
  begin(): void {
    this.get().catch(() => undefined);
  }

  /** Records that the agent can no longer work. */
  fail(error: unknown): void {
    this.#failure ??= { error };
    this.#onFailure();
  }

  /** @throws the reason if the agent could not be created, or can no longer work: the worker then has nothing to wait for */
  throwIfFailed(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }
}
