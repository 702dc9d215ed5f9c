import { Transform } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { textStart } from "../text/characters/cut-text.ts";
import { PASTE_END, PASTE_START, withPlainKeys } from "../text/extended-keys.ts";

/** Maximum characters kept of a paste: more than a line can have. */
const MAX_PASTE = 10_000;
/** The shortest beginning of a mark that is not the Esc key. Alt with `[`, which is the same, is not a key of the sidebar. */
const MIN_BEGINNING = 2;

/**
 * The keys of a terminal, for blessed: it reads an extended key as an Esc and the characters of its sequence, and the characters of a
 * paste as keys.
 */
export class KeyInput extends Transform {
  /** Called with pasted text, which has no key in it. */
  pasted: (text: string) => void = () => undefined;
  readonly #terminal: NodeJS.ReadStream;
  readonly #decoder = new StringDecoder("utf8");
  /** Input that may be the beginning of a mark. */
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
      this.#held = at === -1 ? beginningAtEnd(rest, mark, this.#paste === undefined ? MIN_BEGINNING : 1) : "";
      const part = rest.slice(0, at === -1 ? rest.length - this.#held.length : at);
      if (this.#paste !== undefined) this.#paste = textStart(this.#paste + part, MAX_PASTE);
      else if (part !== "") this.push(withPlainKeys(part));
      if (at === -1) return;
      rest = rest.slice(at + mark.length);
      if (this.#paste !== undefined) this.pasted(this.#paste);
      this.#paste = this.#paste === undefined ? "" : undefined;
    }
  }
}

/** Returns the longest end of a text that is also the beginning of a mark. */
function beginningAtEnd(text: string, mark: string, shortest: number): string {
  for (let length = mark.length - 1; length >= shortest; length -= 1)
    if (text.endsWith(mark.slice(0, length))) return mark.slice(0, length);
  return "";
}
