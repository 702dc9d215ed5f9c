import { gridText, stripControls } from "../terminal-text.ts";

const PLAIN = /^[\x20-\x7e]*$/;
const TAB = 4;

/** Returns text of one line that moves no cursor, in the characters of `gridText`. Entities in Markdown can be any character. */
export function cleanText(text: string): string {
  if (PLAIN.test(text)) return text;
  return stripControls(text)
    .replace(/[\n\t]/g, " ")
    .replace(/[^ ]+/g, gridText);
}

/** Like {@link cleanText}, for a line of code: without spaces at its end, and with tabs up to the next multiple of four. */
export function cleanCode(line: string): string {
  const [first = "", ...others] = line.split("\t").map(cleanText);
  return others
    .reduce((before, after) => `${before}${" ".repeat(TAB - (before.length % TAB))}${after}`, first)
    .trimEnd();
}
