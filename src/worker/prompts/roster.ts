/**
 * Who is in the team, as an agent is told. Its system prompt names who was there when its conversation began, and each change
 * comes with the next turn: a prompt that changes makes the server read the whole conversation anew, at full price.
 */
export class TeamRoster {
  readonly #read: () => readonly string[];
  #inPrompt: readonly string[] | undefined;
  #known: readonly string[] = [];

  /** @param read the names of the others, as they are now */
  constructor(read: () => readonly string[]) {
    this.#read = read;
  }

  /** For the system prompt: the same until {@link reset}. */
  get names(): readonly string[] {
    if (this.#inPrompt === undefined) {
      this.#inPrompt = this.#read();
      this.#known = this.#inPrompt;
    }
    return this.#inPrompt;
  }

  /** What has changed since it was told last, in a sentence; undefined without a change, and before anything was told. */
  takeChanges(): string | undefined {
    if (this.#inPrompt === undefined) return undefined;
    const now = this.#read();
    const joined = now.filter((name) => !this.#known.includes(name));
    const left = this.#known.filter((name) => !now.includes(name));
    this.#known = now;
    if (joined.length + left.length === 0) return undefined;
    const said = [...verb(joined, "joined"), ...verb(left, "left")].join("; ");
    return `[The team has changed: ${said}. With you in it now: ${now.join(", ") || "nobody"}.]`;
  }

  /** The conversation begins anew, and with it the prompt. */
  reset(): void {
    this.#inPrompt = undefined;
  }
}

function verb(names: readonly string[], what: string): string[] {
  return names.length === 0 ? [] : [`${names.join(", ")} ${what}`];
}
