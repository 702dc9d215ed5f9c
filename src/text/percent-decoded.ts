/** Decodes a part of a URL, such as `%40`; returns a text with a lone `%` unchanged. */
export function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
