/** A typed answer to a permission request. */
interface TypedAnswer {
  readonly verdict: "yes" | "no" | "always";
  /** Sent to the model with the answer; may be empty. */
  readonly note: string;
}

const VERDICTS: Readonly<Record<string, TypedAnswer["verdict"]>> = { y: "yes", n: "no", a: "always" };

/**
 * Parses `y`, `n` or `a`, alone or with a note after a comma, colon or semicolon; `yes` and `no` with any text after them.
 * @returns undefined for any other line: a sentence that begins with the article “a” must not allow a call
 */
export function readTypedAnswer(line: string): TypedAnswer | undefined {
  const [, withMark, , note] = /^\s*(y|yes|n|no|a|always)\s*[.!]?\s*([,:;]\s*(.*))?$/i.exec(line) ?? [];
  const [, withText, rest = ""] = /^\s*(yes|no)\s+(.*)$/i.exec(line) ?? [];
  const word = withMark ?? withText;
  const verdict = VERDICTS[word?.charAt(0).toLowerCase() ?? ""];
  return verdict && { verdict, note: (withMark === undefined ? rest : (note ?? "")).trim() };
}
