/** Parses a URL; undefined if it is invalid. URL.canParse of Node 20, once compiled, refuses letters such as `ä`. */
export function parsedUrl(text: string, base?: URL): URL | undefined {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}
