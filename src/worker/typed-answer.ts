/** What a person's line says to a call that waits for a permission. */
export interface TypedAnswer {
  readonly word: "yes" | "no" | "always";
  /** Goes to the model with the answer; empty without one. */
  readonly note: string;
}

const WORDS: Readonly<Record<string, TypedAnswer["word"]>> = { y: "yes", n: "no", a: "always" };

/**
 * Reads `y`, `n` or `a`, alone or with a note behind a comma, colon or semicolon; `yes` and `no` with any words behind.
 * @returns undefined for every other line: a sentence that begins with the article “a” allows nothing, let alone for ever
 */
export function readTypedAnswer(line: string): TypedAnswer | undefined {
  const [, marked, , note] = /^\s*(y|yes|n|no|a|always)\s*[.!]?\s*([,:;]\s*(.*))?$/i.exec(line) ?? [];
  const [, open, rest = ""] = /^\s*(yes|no)\s+(.*)$/i.exec(line) ?? [];
  const said = marked ?? open;
  const word = WORDS[said?.charAt(0).toLowerCase() ?? ""];
  return word && { word, note: (marked === undefined ? rest : (note ?? "")).trim() };
}
