export type ThemeName = "dark" | "light";
export interface Theme {
  ground: string;
  ink: string;
  frame: string;
  title: string;
  named: string[];
}
export interface CellStyle {
  fg?: string;
  bg?: string;
  bold?: true;
  dim?: true;
  italic?: true;
  underline?: true;
  inverse?: true;
  strike?: true;
}
export interface ScreenCell {
  char: string;
  width: 1 | 2;
  style: CellStyle;
}
export const THEMES: Record<ThemeName, Theme>;
export function parseScreen(text: string, theme?: ThemeName): ScreenCell[][];
export function applySgr(before: CellStyle, parameters: string, theme?: ThemeName): CellStyle;
export function paletteColor(index: number, theme?: ThemeName): string;
export function colorsOf(
  style: CellStyle,
  theme: Pick<Theme, "ground" | "ink">,
): { fg: string; bg: string | undefined };
