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
  /** The line of the first place, counted from 1. */
  readonly line: number;
}

/**
 * Replaces all places of a text. Both forms of a line end match each other, and those of the new text get the form of the line end
 * at their place. In a text with carriage returns alone, that is the only form.
 */
export function replaceLines(text: string, from: string, to: string): Replaced {
  if (isCarriageReturned(text)) {
    const replaced = replaceLines(withoutReturns(text), withoutReturns(from), withoutReturns(to));
    return { ...replaced, text: replaced.text.replaceAll("\n", "\r") };
  }
  let [out, done, count, line] = ["", 0, 0, 0];
  const isAtReturn = lineEndFinder(text);
  for (const { start, end } of placesOf(text, withLineFeeds(from))) {
    const isReturn = isAtReturn(start);
    const own = isReturn === undefined ? to : isReturn ? withReturns(to) : withLineFeeds(to);
    out += text.slice(done, start) + own;
    if (count === 0) line = text.slice(0, start).split("\n").length;
    count += 1;
    done = end;
  }
  return { text: out + text.slice(done), count, line };
}

/** Yields the places of a text with line feeds, in order. */
function* placesOf(
  text: string,
  wanted: string,
): Generator<{ readonly start: number; readonly end: number }> {
  const plain = withLineFeeds(text);
  let returns = 0;
  let next = text.indexOf("\r\n");
  // Adds the carriage returns before a place; places are asked for in order.
  const placeIn = (at: number): number => {
    for (; next >= 0 && next - returns < at; returns += 1) next = text.indexOf("\r\n", next + 2);
    return at + returns;
  };
  for (let at = plain.indexOf(wanted); at >= 0; at = plain.indexOf(wanted, at + wanted.length))
    yield { start: placeIn(at), end: placeIn(at + wanted.length) };
}

/**
 * Returns a function that says whether the line end after a place, else the one before it, has a carriage return; undefined without
 * any. Places are asked for in order.
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
