/**
 * Reads captured terminal screens: text with SGR sequences, as `tmux capture-pane -e -p` prints it. The colours are those of a dark
 * or a light terminal.
 */
import { eastAsianWidth } from "get-east-asian-width";

/** The colours of a terminal: its background, its text, the frame and the title of a picture, and the sixteen named colours. */
// biome-ignore format: tables of colours
export const THEMES = {
  dark: {
    ground: "#0d1117", ink: "#d6dde5", frame: "#30363d", title: "#8b949e",
    named: [
      "#484f58", "#ff7b72", "#3fb950", "#d29922", "#58a6ff", "#bc8cff", "#39c5cf", "#b1bac4",
      "#6e7681", "#ffa198", "#56d364", "#e3b341", "#79c0ff", "#d2a8ff", "#56d4dd", "#f0f6fc",
    ],
  },
  light: {
    ground: "#ffffff", ink: "#1f2328", frame: "#d0d7de", title: "#59636e",
    named: [
      "#24292f", "#cf222e", "#116329", "#4d2d00", "#0969da", "#8250df", "#1b7c83", "#6e7781",
      "#57606a", "#a40e26", "#1a7f37", "#633c01", "#218bff", "#a475f9", "#3192aa", "#8c959f",
    ],
  },
};
const MARK = /[\p{Mn}\p{Me}\p{Cf}]/u;

/**
 * Parses the cells of a screen.
 * @param {string} text rows separated by newlines, with SGR sequences; other sequences are dropped
 * @param {"dark" | "light"} theme whose named colours the cells get
 * @returns {{char: string, width: number, style: object}[][]}
 */
export function parseScreen(text, theme = "dark") {
  let style = {};
  return text
    .replace(/\n$/, "")
    .split("\n")
    .map((row) => {
      const cells = [];
      for (const [token, sgr] of row.matchAll(TOKEN)) {
        if (sgr !== undefined) style = applySgr(style, sgr, theme);
        else if (!token.startsWith("\x1b") && token >= " ") addCell(cells, token, style);
      }
      return cells;
    });
}

/** An SGR sequence, another escape sequence (an OSC one up to its end), or one character. */
const TOKEN =
  /\x1b\[([0-9;:]*)m|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b\[[0-?]*[ -/]*[@-~]|\x1b[ -/]*[0-~]|./gsu;

function addCell(cells, char, style) {
  const last = cells.at(-1);
  if (MARK.test(char) && last) last.char += char;
  else cells.push({ char, width: widthOf(char), style });
}

/** Half of a flag has no East Asian width, but terminals show it as an emoji. */
function widthOf(char) {
  return /[\u{1f1e6}-\u{1f1ff}]/u.test(char) ? 2 : eastAsianWidth(char.codePointAt(0));
}

const FLAGS = { 1: "bold", 2: "dim", 3: "italic", 4: "underline", 7: "inverse", 9: "strike" };
const OFF = {
  22: ["bold", "dim"],
  23: ["italic"],
  24: ["underline"],
  27: ["inverse"],
  29: ["strike"],
  39: ["fg"],
  49: ["bg"],
};

/** Returns the style after an SGR sequence. */
export function applySgr(before, parameters, theme = "dark") {
  const { named } = THEMES[theme];
  let style = { ...before };
  const numbers = parameters.split(/[;:]/).map(Number);
  while (numbers.length > 0) {
    const n = numbers.shift();
    if (n === 0) style = {};
    else if (n === 38) style.fg = takeColor(numbers, theme);
    else if (n === 48) style.bg = takeColor(numbers, theme);
    else if (!applyFlag(style, n)) applyNamed(style, n, named);
  }
  return style;
}

function applyFlag(style, n) {
  if (n in FLAGS) style[FLAGS[n]] = true;
  for (const off of OFF[n] ?? []) delete style[off];
  return n in FLAGS || n in OFF;
}

function applyNamed(style, n, named) {
  const target = (n >= 40 && n < 48) || n >= 100 ? "bg" : "fg";
  const index = NAMED_CODES.indexOf(target === "bg" ? n - 10 : n);
  if (index >= 0) style[target] = named[index];
}

const NAMED_CODES = [30, 31, 32, 33, 34, 35, 36, 37, 90, 91, 92, 93, 94, 95, 96, 97];

/** Removes the colour after 38 or 48 from the front of the list, and returns it. */
function takeColor(numbers, theme) {
  const kind = numbers.shift();
  if (kind === 5) return paletteColor(numbers.shift() ?? 0, theme);
  return kind === 2 ? hex(numbers.splice(0, 3)) : undefined;
}

/** Returns a colour of the 256-colour palette as `#rrggbb`. */
export function paletteColor(index, theme = "dark") {
  if (index < 16) return THEMES[theme].named[index];
  if (index >= 232) return hex(Array(3).fill(8 + (index - 232) * 10));
  const steps = [0, 95, 135, 175, 215, 255];
  const cube = index - 16;
  return hex([steps[Math.floor(cube / 36)], steps[Math.floor(cube / 6) % 6], steps[cube % 6]]);
}

function hex(parts) {
  return `#${parts.map((part) => Math.max(0, Math.min(255, part)).toString(16).padStart(2, "0")).join("")}`;
}

/** Returns the colours of a cell; the background is undefined if the cell has that of the terminal. */
export function colorsOf(style, { ink, ground }) {
  const { fg = ink, bg } = style;
  return style.inverse ? { fg: bg ?? ground, bg: fg } : { fg, bg };
}
