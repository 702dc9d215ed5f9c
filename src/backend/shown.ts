/** Lines that are kept of what an agent has shown: two dozen screens; its conversation has the rest. */
const MOST_LINES = 1_000;

/** The end of what an agent without a terminal of its own has written, line by line. */
export class Shown {
  #lines: string[] = [""];

  write(text: string): void {
    const [first = "", ...rest] = text.split("\n");
    const begun = `${this.#lines.pop() ?? ""}${first}`;
    this.#lines = [...this.#lines, begun, ...rest].slice(-MOST_LINES);
  }

  /** The last of them, oldest first; one that is not written yet is none. */
  lines(most: number = MOST_LINES): string[] {
    const whole = this.#lines.at(-1) === "" ? this.#lines.slice(0, -1) : this.#lines;
    return whole.slice(-most);
  }
}
