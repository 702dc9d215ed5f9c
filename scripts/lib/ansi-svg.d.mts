import type { ThemeName } from "./ansi-screen.mjs";

export interface Picture {
  columns: number;
  rows: number;
  title?: string;
  theme?: ThemeName;
}
export function screensToSvg(screens: { text: string; ms: number }[], options: Picture): string;
export function screenToSvg(text: string, options: Picture): string;
