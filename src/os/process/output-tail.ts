import { StringDecoder } from "node:string_decoder";
import { textEnd } from "../../text/characters/cut-text.ts";

/** The newest output of a process, decoded from pieces that may divide a character. */
export class OutputTail {
  readonly #max: number;
  readonly #decoders = { stdout: new StringDecoder("utf8"), stderr: new StringDecoder("utf8") };
  #text = "";
  #isCut = false;

  /** @param max maximum UTF-16 units to keep */
  constructor(max: number) {
    this.#max = max;
  }

  /** Begins with `…` if earlier output was dropped. */
  get text(): string {
    return this.#isCut ? `…${this.#text}` : this.#text;
  }

  add(bytes: Buffer, stream: "stdout" | "stderr" = "stdout"): void {
    const all = this.#text + this.#decoders[stream].write(bytes);
    this.#text = textEnd(all, this.#max);
    this.#isCut ||= this.#text !== all;
  }
}
