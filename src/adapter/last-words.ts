import type { PipedProgram } from "../os/process/piped-program.ts";
import { stripControls } from "../text/terminal-text.ts";

/** Maximum number of words that an error repeats from a program's stderr. */
const MAX_WORDS = 60;

/** Returns a text of a CLI as one line without control characters. */
export function cleaned(text: string): string {
  return stripControls(text).replace(/\s+/g, " ").trim();
}

/** Returns the end of a program's stderr, as the end of a sentence. */
export function lastWords(program: PipedProgram): string {
  const words = cleaned(program.errors()).split(" ").slice(-MAX_WORDS).join(" ");
  return words === "" ? "." : `. Its last words: ${words}`;
}
