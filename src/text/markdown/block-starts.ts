/** The first lines of blocks of Markdown, each with at most three spaces before it. */

export const ATX_HEADING = /^ {0,3}#{1,6}(?:[ \t]|$)/;
/** A fence of code: its indentation, its characters, and the rest of the line. */
export const FENCE = /^( {0,3})(`{3,}(?=[^`]*$)|~{3,})(.*)$/;
/** A list item: its indentation, its marker, and the white space after it. */
export const LIST_MARKER = /^( {0,3})([-+*]|\d{1,9}[.)])([ \t]+(?=[^ \t])|[ \t]*$)/;
export const QUOTE = /^ {0,3}>/;
export const THEMATIC_BREAK = /^ {0,3}([-_*])[ \t]*(?:\1[ \t]*){2,}$/;
/** The underline of a heading of one or more lines; below anything else it has another meaning. */
export const SETEXT_LINE = /^ {0,3}(?:=+|-+)[ \t]*$/;
export const BLANK_LINE = /^[ \t]*$/;

/** Returns the columns of the white space at the beginning of a line; a tab ends at a multiple of four. */
export function indentOf(line: string): number {
  let column = 0;
  for (const char of line) {
    if (char === " ") column += 1;
    else if (char === "\t") column += 4 - (column % 4);
    else break;
  }
  return column;
}

/** A list item's marker, the column of its content, and its number in an ordered list. */
export interface ListMarker {
  /** The character that all items of one list share. */
  readonly kind: string;
  readonly number: number | undefined;
  readonly content: number;
  readonly isEmpty: boolean;
}

/** Reads the marker of a line that begins a list item. */
export function listMarker(line: string): ListMarker | undefined {
  const match = LIST_MARKER.exec(line);
  if (match === null || THEMATIC_BREAK.test(line)) return undefined;
  const [, indent = "", marker = "", spaces = ""] = match;
  const afterMarker = indent.length + marker.length;
  const isEmpty = match[0].length === line.length;
  const column = isEmpty ? afterMarker + 1 : columnAfter(afterMarker, spaces);
  return {
    kind: marker.slice(-1),
    number: marker.length > 1 ? Number.parseInt(marker, 10) : undefined,
    // More than four columns begin a code block in the item.
    content: column - afterMarker > 4 ? afterMarker + 1 : column,
    isEmpty,
  };
}

function columnAfter(start: number, spaces: string): number {
  let column = start;
  for (const char of spaces) column += char === "\t" ? 4 - (column % 4) : 1;
  return column;
}
