/** Words that mean nothing to a shell stay as they are, so that a command reads well. */
const PLAIN = /^[A-Za-z0-9@%+:,./_-]+$/;

/** The text as one word of a POSIX shell. */
function quoteWord(text: string): string {
  return PLAIN.test(text) ? text : alwaysQuoted(text);
}

function alwaysQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

type Frame = "command" | "single" | "double" | "ansi" | "parameter" | "backtick" | "arithmetic" | "comment";

/** How far {@link WordContext.read} looks ahead: the longest word that it knows, less its first character. */
const AHEAD = 4;

/**
 * Where in a shell command one stands: in which quotes and substitutions, from its start on. Just enough of the grammar
 * to insert a word safely, and to refuse where that cannot be done or told.
 */
export class WordContext {
  private readonly frames: Frame[] = ["command"];
  /** Round brackets that are open inside of each frame. */
  private readonly depths: number[] = [0];
  private previous = "\n";
  /** What came before that makes it unsafe to insert anything behind it. */
  private unsafe: string | undefined;

  /** Goes on behind this text. */
  read(text: string): void {
    for (let i = 0; i < text.length; i += 1) {
      const taken = this.step(text.charAt(i), text.slice(i + 1, i + 1 + AHEAD));
      if (i + taken >= text.length) this.unsafe ??= "after a backslash";
      this.previous = text.charAt(i) === "\\" ? "x" : text.charAt(i + taken);
      i += taken;
    }
  }

  /**
   * A value as one word at this place: outside of quotes quoted, inside of them with the quotes closed before it and
   * opened again behind it.
   * @throws Error that says where it stands, if no quoting can keep the value in one piece there
   */
  insert(value: string): string {
    if (value.includes("\0")) throw new Error("holds a NUL character, which no command can");
    if (this.previous === "$") this.unsafe ??= "after a dollar sign";
    if (this.unsafe !== undefined) throw new Error(`stands ${this.unsafe}`);
    this.previous = "x";
    const frame = this.frames.at(-1);
    switch (frame) {
      case "single":
        return `'${alwaysQuoted(value)}'`;
      case "double":
        return `"${alwaysQuoted(value)}"`;
      case "ansi":
        return `'${alwaysQuoted(value)}$'`;
      case "comment":
        return value.replace(/[\r\n]+/g, " ");
      case "arithmetic":
        if (/^-?[0-9]+$/.test(value)) return value;
        throw new Error("stands in arithmetic and is not a number");
      case "command":
        return quoteWord(value);
      default:
        throw new Error(
          `stands in ${frame === "backtick" ? "backticks; use $(…)" : "a parameter expansion"}`,
        );
    }
  }

  /** Takes one character; returns how many of the next ones belong to it. */
  private step(char: string, next: string): number {
    const frame = this.frames.at(-1) ?? "command";
    switch (frame) {
      case "single":
        return this.until("'", char);
      case "comment":
        return this.until("\n", char);
      case "ansi":
        return char === "\\" ? 1 : this.until("'", char);
      case "backtick":
        return char === "\\" ? 1 : this.until("`", char);
      case "double":
        if (char === "\\") return 1;
        return char === '"' ? this.until('"', char) : this.expansion(char, next);
      case "parameter":
        return this.inParameter(char, next);
      default:
        return this.inCommand(frame, char, next);
    }
  }

  private until(end: string, char: string): number {
    if (char === end) this.pop();
    return 0;
  }

  private inParameter(char: string, next: string): number {
    if (char === "\\") return 1;
    if (char === "}") return this.until("}", char);
    if (char === '"') return this.push("double");
    // Inside of double quotes a single one is a character like any other.
    if (char === "'" && this.frames.findLast((frame) => frame !== "parameter") !== "double") {
      return this.push("single");
    }
    return this.expansion(char, next);
  }

  private inCommand(frame: Frame, char: string, next: string): number {
    if (char === "\\") return 1;
    if (char === "'") return this.push("single");
    if (char === '"') return this.push("double");
    if (char === "$" && next.startsWith("'")) return this.push("ansi", 1);
    if (char === ")") return this.closeBracket();
    if (frame === "command") {
      const atStart = /[\s;&|()]/.test(this.previous);
      if (char === "(" && next.startsWith("(")) return this.arithmetic(1);
      if (char === "#" && atStart) return this.push("comment");
      if (char === "<" && next.startsWith("<")) return this.redirection(next);
      // The bracket behind a pattern of `case` has no partner, so the end of `$(` could be anywhere.
      if (atStart && /^case\s/.test(char + next)) this.unsafe ??= "after a case";
    }
    if (char === "(") return this.deepen(1);
    return this.expansion(char, next);
  }

  /** `<<<` is a word of this command; `<<` begins a text that ends who knows where. */
  private redirection(next: string): number {
    if (next.startsWith("<<")) return 2;
    this.unsafe ??= "after a here-document; use Write for the text";
    return 1;
  }

  private expansion(char: string, next: string): number {
    if (char === "`") return this.push("backtick");
    if (char !== "$") return 0;
    if (next.startsWith("((")) return this.arithmetic(2);
    if (next.startsWith("(")) return this.push("command", 1);
    return next.startsWith("{") ? this.push("parameter", 1) : 0;
  }

  private arithmetic(taken: number): number {
    this.push("arithmetic");
    this.deepen(1);
    return taken;
  }

  private closeBracket(): number {
    if ((this.depths.at(-1) ?? 0) > 0) return this.deepen(-1);
    if (this.frames.length > 1) this.pop();
    return 0;
  }

  private deepen(by: number): number {
    this.depths.push((this.depths.pop() ?? 0) + by);
    return 0;
  }

  private push(frame: Frame, taken = 0): number {
    this.frames.push(frame);
    this.depths.push(0);
    return taken;
  }

  private pop(): void {
    this.frames.pop();
    this.depths.pop();
  }
}
