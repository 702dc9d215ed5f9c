/**
 * The other members, as an agent knows them. The system prompt lists the members at the start of the conversation, and each
 * change comes with the next turn: a changed prompt makes the server read the whole conversation again, at full price.
 */
export class TeamRoster {
  readonly #read: () => readonly string[];
  #inPrompt: readonly string[] | undefined;
  #reported: readonly string[] = [];

  /** @param read returns the current names of the other members */
  constructor(read: () => readonly string[]) {
    this.#read = read;
  }

  /** Names for the system prompt: unchanged until {@link reset}. */
  get names(): readonly string[] {
    if (this.#inPrompt === undefined) {
      this.#inPrompt = this.#read();
      this.#reported = this.#inPrompt;
    }
    return this.#inPrompt;
  }

  /** Returns a sentence with the changes since the last report; undefined without a change, and before the first prompt. */
  takeChanges(): string | undefined {
    if (this.#inPrompt === undefined) return undefined;
    const now = this.#read();
    const joined = now.filter((name) => !this.#reported.includes(name));
    const left = this.#reported.filter((name) => !now.includes(name));
    this.#reported = now;
    if (joined.length + left.length === 0) return undefined;
    const changes = [...change(joined, "joined"), ...change(left, "left")].join("; ");
    return `[The team has changed: ${changes}. Other members now: ${now.join(", ") || "none"}.]`;
  }

  /** Starts over with a new prompt, for a compacted conversation. */
  reset(): void {
    this.#inPrompt = undefined;
  }
}

function change(names: readonly string[], verb: string): string[] {
  return names.length === 0 ? [] : [`${names.join(", ")} ${verb}`];
}
