import { Transform } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { textStart } from "../text/characters/cut-text.ts";
import { PASTE_END, PASTE_START, withPlainKeys } from "../text/extended-keys.ts";

/** Maximum characters kept of a paste: more than a line can have. */
const MAX_PASTE = 10_000;
/** The beginning of a key sequence at the end of the input. Alt with `[`, which is the same, is not a key of the sidebar. */
const PARTIAL_SEQUENCE = /\u001b\[[0-?]*$/;
const MOUSE_EVENT = /(\u001b\[<[\d;]*[Mm])/;

/**
 * The keys of a terminal, for blessed: it reads an extended key as an Esc and the characters of its sequence, the characters of a
 * paste as keys, and nothing but the first event of a piece that has a mouse event.
 */
export class KeyInput extends Transform {
  /** Called with pasted text, which has no key in it. */
  pasted: (text: string) => void = () => undefined;
  readonly #terminal: NodeJS.ReadStream;
  readonly #decoder = new StringDecoder("utf8");
  /** Input that may be the beginning of a key sequence, or of the mark that ends a paste. */
  #held = "";
  /** The text since the beginning of a paste. */
  #paste: string | undefined;

  constructor(terminal: NodeJS.ReadStream) {
    super();
    this.#terminal = terminal;
    terminal.pipe(this);
  }

  get isRaw(): boolean {
    return this.#terminal.isRaw;
  }

  setRawMode(on: boolean): void {
    this.#terminal.setRawMode(on);
  }

  override _transform(bytes: Buffer, _encoding: string, done: () => void): void {
    this.#take(this.#decoder.write(bytes));
    done();
  }

  /** Stops reading the terminal. */
  close(): void {
    this.#terminal.unpipe(this);
    this.#terminal.pause();
  }

  /** Passes keys and pastes on in their order: a pushed key has been handled when `push` returns. */
  #take(text: string): void {
    let rest = this.#held + text;
    for (;;) {
      const mark = this.#paste === undefined ? PASTE_START : PASTE_END;
      const at = rest.indexOf(mark);
      this.#held = at === -1 ? this.#beginningAtEnd(rest) : "";
      const part = rest.slice(0, at === -1 ? rest.length - this.#held.length : at);
      if (this.#paste !== undefined) this.#paste = textStart(this.#paste + part, MAX_PASTE);
      else for (const keys of withPlainKeys(part).split(MOUSE_EVENT)) if (keys !== "") this.push(keys);
      if (at === -1) return;
      rest = rest.slice(at + mark.length);
      if (this.#paste !== undefined) this.pasted(this.#paste);
      this.#paste = this.#paste === undefined ? "" : undefined;
    }
  }

  #beginningAtEnd(text: string): string {
    if (this.#paste === undefined) return PARTIAL_SEQUENCE.exec(text)?.[0] ?? "";
    for (let length = PASTE_END.length - 1; length > 0; length -= 1)
      if (text.endsWith(PASTE_END.slice(0, length))) return PASTE_END.slice(0, length);
    return "";
  }
}
