/** Keeps the problems of a start until there is a view that shows them. */
export class EarlyProblems {
  readonly #kept: string[] = [];
  #show: ((text: string) => void) | undefined;

  report(text: string): void {
    if (this.#show === undefined) this.#kept.push(text);
    else this.#show(text);
  }

  /** Shows the problems so far, and all later ones. */
  showBy(show: (text: string) => void): void {
    this.#show = show;
    for (const text of this.#kept.splice(0)) show(text);
  }
}
