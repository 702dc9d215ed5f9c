/** The turn that runs now, if there is one. */
export class RunningTurn {
  #controller: AbortController | undefined;
  #keys: readonly string[] = [];
  #answersShutdown = false;

  get isActive(): boolean {
    return this.#controller !== undefined;
  }

  /** Keys of the messages that the turn began with; empty between turns. */
  get keys(): readonly string[] {
    return this.#keys;
  }

  /** Whether the turn began with a shutdown request. */
  get answersShutdown(): boolean {
    return this.#answersShutdown;
  }

  /** @returns the signal that ends the turn early */
  begin(keys: readonly string[], answersShutdown: boolean): AbortSignal {
    this.#controller = new AbortController();
    this.#keys = keys;
    this.#answersShutdown = answersShutdown;
    return this.#controller.signal;
  }

  end(): void {
    this.#controller = undefined;
    this.#keys = [];
    this.#answersShutdown = false;
  }

  /** Ends the turn at once. @returns whether there was one */
  abort(reason: unknown): boolean {
    this.#controller?.abort(reason);
    return this.isActive;
  }

  /** Ends the turn at once; the agent does not resume it. @returns whether there was one */
  interrupt(): boolean {
    return this.abort(new DOMException("interrupted", "AbortError"));
  }
}
