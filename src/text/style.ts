/** Colours and bold text for all terminal output. */

/**
 * Members' colours as indices of the 256-colour palette. Their medium brightness is readable on dark and on light
 * backgrounds; the sixteen named colours depend on the user's theme, and its blue is often too dark.
 */
const PALETTE: Readonly<Record<string, number>> = {
  blue: 33,
  green: 71,
  yellow: 178,
  purple: 135,
  orange: 208,
  pink: 205,
  cyan: 37,
  red: 203,
};

/** Colours with a meaning of their own, the same for every member. */
export const TONE = { quiet: 245, faint: 242, good: 71, busy: 33, attention: 214, bad: 203 } as const;

/** Returns the index of a member's colour; undefined (the terminal's own) for the lead and for an unknown colour. */
export function memberColor(color: string | null | undefined): number | undefined {
  return color != null && Object.hasOwn(PALETTE, color) ? PALETTE[color] : undefined;
}

/** An index of the 256-colour palette, bold, or the terminal's own style. */
export type Style = number | "bold" | undefined;

export type Styler = (style: Style, text: string) => string;

/** Returns a function that styles text for a terminal. @param plain leaves texts as they are */
export function styler(plain: boolean): Styler {
  return (style, text) => (plain ? text : styled(text, [style]));
}

/** Puts SGR sequences around a text; each style ends on its own, so that styled texts can be nested. */
export function styled(text: string, styles: readonly Style[]): string {
  const set = styles.filter((style) => style !== undefined);
  if (set.length === 0) return text;
  const on = set.map((style) => (style === "bold" ? "1" : `38;5;${style}`));
  const off = set.map((style) => (style === "bold" ? "22" : "39"));
  return `\x1b[${on.join(";")}m${text}\x1b[${off.join(";")}m`;
}
