/**
 * Returns a text as one line: each run of white space that contains a line end becomes `sign`. Linear time, unlike a pattern with
 * white space on both sides of the line end.
 */
export function joinedLines(text: string, sign: string): string {
  return text.replace(/\s+/g, (space) => (space.includes("\n") ? sign : space));
}

/** Removes all occurrences of a character at the end of a text. Linear time, unlike `/x+$/`. */
export function withoutEnd(text: string, char: string): string {
  let end = text.length;
  while (end > 0 && text.charAt(end - 1) === char) end -= 1;
  return text.slice(0, end);
}

/** Returns a text in which each line end is a line feed. */
export function withLineFeeds(text: string): string {
  return text.replaceAll("\r\n", "\n");
}

/** Whether the line ends of a text are carriage returns alone, as in the files of old programs. */
export function isCarriageReturned(text: string): boolean {
  return !text.includes("\n") && text.includes("\r");
}

/** Returns a text in which each line end, carriage returns alone too, is a line feed. */
function withoutReturns(text: string): string {
  return withLineFeeds(text).replaceAll("\r", "\n");
}

/** Returns a text in which each line end has the form of most line ends of another text. */
export function withLineEndsOf(other: string, text: string): string {
  if (isCarriageReturned(other)) return withLineFeeds(text).replaceAll("\n", "\r");
  const feeds = other.split("\n").length - 1;
  const returns = other.split("\r\n").length - 1;
  return returns > feeds / 2 ? withReturns(text) : text;
}

/** Returns a text in which each line end is a carriage return and a line feed. */
function withReturns(text: string): string {
  return text.replace(/\r?\n/g, "\r\n");
}

interface Replaced {
  readonly text: string;
  readonly count: number;
  /** The line of the first occurrence, counted from 1. */
  readonly line: number;
}

/**
 * Replaces all occurrences of a text. Both forms of a line end match each other, and the new text gets the form of the line end near
 * each occurrence. In a text with carriage returns alone, that is the only form.
 */
export function replaceLines(text: string, from: string, to: string): Replaced {
  if (isCarriageReturned(text)) {
    const replaced = replaceLines(withoutReturns(text), withoutReturns(from), withoutReturns(to));
    return { ...replaced, text: replaced.text.replaceAll("\n", "\r") };
  }
  let [out, done, count, line] = ["", 0, 0, 0];
  const isAtReturn = lineEndFinder(text);
  for (const { start, end } of occurrencesOf(text, withLineFeeds(from))) {
    const isReturn = isAtReturn(start);
    const own = isReturn === undefined ? to : isReturn ? withReturns(to) : withLineFeeds(to);
    out += text.slice(done, start) + own;
    if (count === 0) line = text.slice(0, start).split("\n").length;
    count += 1;
    done = end;
  }
  return { text: out + text.slice(done), count, line };
}

/** Yields the occurrences of a text with line feeds, in order. */
function* occurrencesOf(
  text: string,
  wanted: string,
): Generator<{ readonly start: number; readonly end: number }> {
  const plain = withLineFeeds(text);
  let returns = 0;
  let next = text.indexOf("\r\n");
  // Adds the carriage returns before an index. Called with ascending indexes.
  const indexIn = (at: number): number => {
    for (; next >= 0 && next - returns < at; returns += 1) next = text.indexOf("\r\n", next + 2);
    return at + returns;
  };
  for (let at = plain.indexOf(wanted); at >= 0; at = plain.indexOf(wanted, at + wanted.length))
    yield { start: indexIn(at), end: indexIn(at + wanted.length) };
}

/**
 * Returns a function that returns whether the line end after an index, else the one before it, has a carriage return; undefined if
 * there is no line end. Call it with ascending indexes.
 */
function lineEndFinder(text: string): (place: number) => boolean | undefined {
  let before = -1;
  let feed = text.indexOf("\n");
  return (place) => {
    for (; feed >= 0 && feed < place; feed = text.indexOf("\n", feed + 1)) before = feed;
    const near = feed >= 0 ? feed : before;
    return near < 0 ? undefined : text[near - 1] === "\r";
  };
}
