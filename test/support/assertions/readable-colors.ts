import { colorsOf, parseScreen, THEMES, type ThemeName } from "../../../scripts/lib/ansi-screen.mjs";

/** The minimum contrast between a text and its background. */
export const MIN_CONTRAST = 3;

/**
 * Returns the characters of a screen that are hard to read in a theme, each with its colours.
 * @param drawn the screen's text with styles, as `tmux capture-pane -e` prints it
 */
export function unreadableParts(drawn: string, theme: ThemeName): readonly string[] {
  const terminal = THEMES[theme];
  return parseScreen(drawn, theme).flatMap((row, y) =>
    row.flatMap(({ char, style }, x) => {
      const { fg, bg = terminal.ground } = colorsOf(style, terminal);
      const isReadable = char.trim() === "" || contrast(fg, bg) >= MIN_CONTRAST;
      return isReadable ? [] : [`${char} in row ${y + 1}, column ${x + 1}: ${fg} on ${bg}`];
    }),
  );
}

/** The contrast of two colours as WCAG 2 defines it: 1 to 21. */
export function contrast(a: string, b: string): number {
  const [dark = 0, light = 0] = [luminance(a), luminance(b)].sort((one, other) => one - other);
  return (light + 0.05) / (dark + 0.05);
}

function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((from) => {
    const part = Number.parseInt(color.slice(from, from + 2), 16) / 255;
    return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
