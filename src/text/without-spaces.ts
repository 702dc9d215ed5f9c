/** Returns a text without white space and zero-width spaces: it stays the same when a screen wraps it. */
export function withoutSpaces(text: string): string {
  return text.replace(/[\s\u200b]+/g, "");
}
