/** Colours, bold text and other styles for all terminal output. */

/*
 * All colours are indices of the 256-colour palette from 16 up, which no theme changes. Each has a contrast of at least 3 on
 * black, on white and on the backgrounds of common themes (a test measures it). The sixteen named colours depend on the theme:
 * their blue is often too dark, their yellow too light, and their bright black is the background of Solarized.
 */

/** Members' colours. */
const PALETTE: Readonly<Record<string, number>> = {
  blue: 33,
  green: 64,
  yellow: 136,
  purple: 135,
  orange: 166,
  pink: 169,
  cyan: 31,
  red: 167,
};

/** Colours with a meaning of their own, the same for every member. */
export const TONE = {
  quiet: 244,
  faint: 243,
  good: 64,
  busy: 33,
  attention: 136,
  bad: 167,
  added: 64,
  removed: 167,
  code: 31,
} as const;

/** Returns the index of a member's colour; undefined (the terminal's own) for the lead and for an unknown colour. */
export function memberColor(color: string | null | undefined): number | undefined {
  return color != null && Object.hasOwn(PALETTE, color) ? PALETTE[color] : undefined;
}

/** The SGR codes of attributes; those that end them are larger by 20, except that of bold text: 21 is an underline. */
const ATTRIBUTES = { bold: 1, dim: 2, italic: 3, underline: 4, reverse: 7, strike: 9 } as const;

/** An attribute of text. The end of bold text also ends dim text around it, and vice versa. */
export type Attribute = keyof typeof ATTRIBUTES;

/** An index of the 256-colour palette, an attribute, or the terminal's own style. */
export type Style = number | Attribute | undefined;

export type Styler = (style: Style, text: string) => string;

/** Returns a function that styles text for a terminal. @param plain leaves texts as they are */
export function styler(plain: boolean): Styler {
  return (style, text) => (plain ? text : styled(text, [style]));
}

/** Puts SGR sequences around a text; each style ends separately, so that styled texts can be nested. */
export function styled(text: string, styles: readonly Style[]): string {
  const set = styles.filter((style) => style !== undefined);
  if (set.length === 0) return text;
  const on = set.map((style) => (typeof style === "number" ? `38;5;${style}` : ATTRIBUTES[style]));
  const off = set.map((style) => (typeof style === "number" ? 39 : Math.max(22, ATTRIBUTES[style] + 20)));
  return `\x1b[${on.join(";")}m${text}\x1b[${off.join(";")}m`;
}
