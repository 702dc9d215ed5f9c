/** Splits a byte stream into lines of limited length. */
export class LineSplitter {
  readonly #maxBytes: number;
  #parts: Uint8Array[] = [];
  #bytes = 0;
  #isTooLong = false;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Returns the lines that a chunk completes; undefined for a line that was too long. Memory is limited to the limit and one chunk. */
  push(chunk: Uint8Array): (string | undefined)[] {
    const lines: (string | undefined)[] = [];
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      this.#add(chunk.subarray(from, end));
      lines.push(this.#isTooLong ? undefined : Buffer.concat(this.#parts).toString("utf8"));
      this.#parts = [];
      this.#bytes = 0;
      this.#isTooLong = false;
      from = end + 1;
    }
    this.#add(chunk.subarray(from));
    return lines;
  }

  #add(part: Uint8Array): void {
    if (part.length === 0 || this.#isTooLong) return;
    this.#bytes += part.length;
    this.#isTooLong = this.#bytes > this.#maxBytes;
    if (this.#isTooLong) this.#parts = [];
    else this.#parts.push(part);
  }
}

const NEWLINE = 0x0a;
