/** The mark that some editors write at the start of a file; it is not part of the text. */
export const BYTE_ORDER_MARK = "\ufeff";

/** Returns a text without the byte order mark at its start. */
export function withoutMark(text: string): string {
  return text.startsWith(BYTE_ORDER_MARK) ? text.slice(BYTE_ORDER_MARK.length) : text;
}
