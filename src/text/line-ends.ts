/** Returns a text as one line: each run of white space with a line end in it becomes `sign`. The time is linear, unlike that of a pattern with blanks on both sides. */
export function joinedLines(text: string, sign: string): string {
  return text.replace(/\s+/g, (blank) => (blank.includes("\n") ? sign : blank));
}

/** Returns a text without a character at its end, however often it is there. The time is linear, unlike that of `/x+$/`. */
export function withoutEnd(text: string, char: string): string {
  let end = text.length;
  while (end > 0 && text.charAt(end - 1) === char) end -= 1;
  return text.slice(0, end);
}
