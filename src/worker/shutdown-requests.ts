/** Shutdown requests that an agent has to answer: each once, under the id that it has. */
export class ShutdownRequests {
  readonly #open = new Set<string>();

  asked(requestId: string): void {
    this.#open.add(requestId);
  }

  isOpen(requestId: string): boolean {
    return this.#open.has(requestId);
  }

  /** The answer has been sent. */
  answered(requestId: string): void {
    this.#open.delete(requestId);
  }
}
