/**
 * Members' colours as indices of the 256-colour palette: of middle brightness, so that they can be read on dark and on
 * light ground, where the sixteen named ones depend on the user's theme (its blue is often too dark to read).
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

/** What means something wherever it is shown, whoever it is about. */
export const TONE = { quiet: 245, faint: 242, good: 71, busy: 33, attention: 214, bad: 203 } as const;

/** A member's colour; undefined (the terminal's own) for the lead and for a name that nobody knows. */
export function paletteIndex(color: string | null | undefined): number | undefined {
  return color != null && Object.hasOwn(PALETTE, color) ? PALETTE[color] : undefined;
}
