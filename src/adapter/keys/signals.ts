import { Buffer } from "node:buffer";
import { textStart } from "../../text/characters/cut-text.ts";

/** Signals in a piece of a program's output. */
export interface OutputSignals {
  /** Its newest alert: the text of a notification, or "" for a bell; undefined if there is none. */
  readonly alert?: string | undefined;
  /** Whether it has enabled or disabled bracketed paste; undefined if it has done neither. */
  readonly bracketedPaste?: boolean | undefined;
}

/** Maximum bytes kept of a control string: a longer notification is cut. */
const MAX_NOTICE = 4_096;
const MAX_PARAMETERS = 64;
/** Milliseconds after which an unfinished control string is abandoned, as in tmux. */
const STRING_MS = 5_000;

/** Kinds of control strings: a bell ends a command (OSC), but not the others. */
type Kind = "command" | "device" | "other";
const KINDS: Readonly<Record<string, Kind>> = {
  "]": "command",
  P: "device",
  X: "other",
  "^": "other",
  _: "other",
  k: "other",
};

/**
 * Finds bells and notifications (OSC 9, OSC 777) in the output of a program, whatever else that contains. A notification may be split
 * anywhere, be wrapped for tmux to pass on, or never end.
 */
export class Signals {
  #state: "ground" | "escape" | "sequence" | "string" | "string-escape" = "ground";
  #kind: Kind = "other";
  #content = "";
  #startedAt = 0;
  #alert: string | undefined;
  #bracketedPaste: boolean | undefined;

  /** Reads the next piece of output. @param now milliseconds of the steady clock */
  feed(bytes: Uint8Array, now: number): OutputSignals {
    this.#alert = undefined;
    this.#bracketedPaste = undefined;
    const isString = this.#state === "string" || this.#state === "string-escape";
    if (isString && now - this.#startedAt > STRING_MS) this.#state = "ground";
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
    for (let at = 0; at < text.length; ) at = this.#step(text, at, now);
    return { alert: this.#alert, bracketedPaste: this.#bracketedPaste };
  }

  /** Continues at a position. @returns the next position */
  #step(text: string, at: number, now: number): number {
    switch (this.#state) {
      case "ground":
        return this.#skipTo(GROUND_ENDS, text, at, false);
      case "string":
        return this.#skipTo(STRING_ENDS, text, at, true);
      case "escape":
        this.#afterEscape(text[at] ?? "", now);
        return at + 1;
      case "sequence":
        this.#inSequence(text[at] ?? "");
        return at + 1;
      case "string-escape":
        return this.#afterStringEscape(text, at, now);
    }
  }

  #skipTo(ends: RegExp, text: string, from: number, isContent: boolean): number {
    ends.lastIndex = from;
    const at = ends.exec(text)?.index ?? text.length;
    if (isContent) this.#add(text, from, at);
    if (at < text.length) this.#control(text[at] ?? "");
    return at + 1;
  }

  #control(char: string): void {
    const isString = this.#state === "string";
    if (char === "\x1b") this.#state = isString ? "string-escape" : "escape";
    else if (char === "\x18" || char === "\x1a") this.#state = "ground";
    else if (!isString) {
      if (char === "\x07") this.#alert ??= "";
    } else if (this.#kind === "command") this.#end();
    // The character belongs to a string that is wrapped in this string.
    else this.#add(char, 0, 1);
  }

  #afterEscape(char: string, now: number): void {
    const kind = KINDS[char];
    if (kind !== undefined) {
      this.#state = "string";
      this.#kind = kind;
      this.#content = "";
      this.#startedAt = now;
    } else if (char === "[") {
      this.#state = "sequence";
      this.#content = "";
    } else if (char < " ") this.#control(char);
    // Characters up to / are intermediate, as before the name of a character set.
    else if (char > "/") {
      this.#state = "ground";
      // A full reset.
      if (char === "c") this.#bracketedPaste = false;
    }
  }

  #inSequence(char: string): void {
    if (char < " ") this.#control(char);
    else if (char >= "@") this.#endSequence(char);
    else if (this.#content.length < MAX_PARAMETERS) this.#content += char;
  }

  #endSequence(char: string): void {
    this.#state = "ground";
    const isMode = (char === "h" || char === "l") && this.#content.startsWith("?");
    if (isMode && this.#content.slice(1).split(";").includes("2004")) this.#bracketedPaste = char === "h";
  }

  #afterStringEscape(text: string, at: number, now: number): number {
    const char = text[at] ?? "";
    if (char === "\\") {
      this.#end();
      return at + 1;
    }
    // A wrapped string doubles each escape.
    if (this.#kind === "device") {
      this.#state = "string";
      this.#add(text, at, at + 1);
      return at + 1;
    }
    // Another sequence begins: this string never ended.
    this.#state = "escape";
    this.#afterEscape(char, now);
    return at + 1;
  }

  #add(text: string, from: number, to: number): void {
    this.#content += textStart(text.slice(from, to), MAX_NOTICE - this.#content.length);
  }

  #end(): void {
    this.#state = "ground";
    const content = this.#content;
    if (this.#kind === "command") this.#alert = noticeOf(content) ?? this.#alert;
    else if (this.#kind === "device" && content.startsWith(WRAPPED)) {
      // The added terminator ends a wrapped string that was cut off, and has no effect on any other.
      const wrapped = `${content.slice(WRAPPED.length)}\x1b\\`;
      const inner = new Signals().feed(Buffer.from(wrapped, "latin1"), 0);
      this.#alert = inner.alert || (this.#alert ?? inner.alert);
    }
  }
}

const GROUND_ENDS = /[\x07\x1b]/g;
const STRING_ENDS = /[\x07\x18\x1a\x1b]/g;
/** Begins a string that tmux passes on to its own terminal. */
const WRAPPED = "tmux;";

/** Returns the text of a notification; undefined for other commands, such as the numbered ones that share OSC 9 (progress, directory). */
function noticeOf(content: string): string | undefined {
  // Drop half of a character at the end of a cut text.
  const command = Buffer.from(content, "latin1")
    .toString("utf8")
    .replace(/\ufffd+$/, "");
  const [, text] = /^9;(?!\d+(?:;|$))(.*)$/s.exec(command) ?? [];
  if (text !== undefined) return text;
  const [, title, body] = /^777;notify;([^;]*)(?:;(.*))?$/s.exec(command) ?? [];
  return title === undefined ? undefined : [title, body].filter(Boolean).join(": ");
}
