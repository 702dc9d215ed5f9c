import { styleText } from "node:util";
import type { Figure, Unit } from "./figure.ts";

/** The width of the figures' names; a longer name shifts its line to the right. */
const NAME_COLUMNS = 62;

/** Formats one section of the table: a heading and a line for each figure. */
export function section(title: string, figures: readonly Figure[]): string {
  const lines = figures.length === 0 ? ["  cannot be measured on this system"] : figures.map(line);
  return [bold(title), ...lines, ""].join("\n");
}

function line({ what, value, unit, goal, references = [] }: Figure): string {
  const verdict = goal === undefined ? " " : goal.met ? green("✓") : red("✗");
  const cells = [
    `  ${what.padEnd(NAME_COLUMNS)}`,
    format(value, unit).padStart(11),
    ` ${verdict} ${(goal?.text ?? "").padEnd(16)}`,
    references
      .map((other) => `${ratio(value / other.value)} ${other.what} (${format(other.value, unit)})`)
      .join(" · "),
  ];
  return cells.join(" ").trimEnd();
}

/** Formats a value with its significant digits; short times in microseconds. */
export function format(value: number, unit: Unit): string {
  if (unit === "ms" && value < 0.1) return format(value * 1000, "µs");
  const digits = unit === "bytes" || unit === "" || value >= 100 ? 0 : value >= 10 ? 1 : 2;
  const number = value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return unit === "" ? number : `${number} ${unit}`;
}

function ratio(value: number): string {
  return `${value >= 10 ? value.toFixed(0) : value >= 0.1 ? value.toFixed(1) : value.toPrecision(1)} ×`;
}

const bold = (text: string): string => styleText("bold", text);
const green = (text: string): string => styleText("green", text);
const red = (text: string): string => styleText("red", text);
