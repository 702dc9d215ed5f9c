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
export function parseScreen(text: string): ScreenCell[][];
export function applySgr(before: CellStyle, parameters: string): CellStyle;
export function paletteColor(index: number): string;
export interface Picture {
  columns: number;
  rows: number;
  title?: string;
}
export function screensToSvg(screens: { text: string; ms: number }[], options: Picture): string;
export function screenToSvg(text: string, options: Picture): string;
