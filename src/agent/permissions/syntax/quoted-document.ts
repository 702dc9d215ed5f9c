const DOCUMENT = /^"\$\(cat <<(['"])(\w+)\1\n([\s\S]*\n)?\2\n?[ \t]*\)"$/;

/**
 * Returns the text of a word that is a quoted here-document: `"$(cat <<'E'⏎fix: x (#1)⏎E⏎)"`, the usual form of a commit message.
 * Undefined for every other word. Some shells look for the closing parenthesis before they read the document, so a text with quotes,
 * expansions or an odd parenthesis does not count.
 */
export function quotedDocument(word: string): string | undefined {
  const [, , end = "", text = ""] = DOCUMENT.exec(word) ?? [];
  if (end === "" || /["'`\\$\0]/.test(text) || text.split("\n").some((line) => line.trim() === end))
    return undefined;
  let open = 0;
  for (const char of text) {
    if (char === "(") open += 1;
    else if (char === ")") open -= 1;
    if (open < 0) return undefined;
  }
  // In `case` and comments, shells count parentheses differently.
  const isCounted = open === 0 && !/(?:^|\s)#[^\n]*[()]|\bcase\b|<</.test(text);
  return isCounted ? text.replace(/\n+$/, "") : undefined;
}
