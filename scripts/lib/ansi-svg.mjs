/**
 * Draws captured terminal screens (text with SGR sequences, as `tmux capture-pane -e -p` prints it) as SVG:
 * exact cells, colours, bold, wide characters, and box drawing as lines, so that borders are closed in every
 * font. Several screens become an animation.
 */
import { colorsOf, parseScreen, THEMES } from "./ansi-screen.mjs";

const CELL = { width: 8.4, height: 18, font: 14, baseline: 13 };
const MARGIN = 14;
const TITLE_BAR = 34;
const FONT = "ui-monospace, 'JetBrains Mono', 'DejaVu Sans Mono', Menlo, Consolas, monospace";

/** The arms of line-drawing characters: left, right, up, down; 1 is a thin line and 2 a thick one. */
// biome-ignore format: a table of characters
const ARMS = {
  "─": [1, 1, 0, 0], "│": [0, 0, 1, 1], "┌": [0, 1, 0, 1], "┐": [1, 0, 0, 1], "└": [0, 1, 1, 0], "┘": [1, 0, 1, 0],
  "├": [0, 1, 1, 1], "┤": [1, 0, 1, 1], "┬": [1, 1, 0, 1], "┴": [1, 1, 1, 0], "┼": [1, 1, 1, 1],
  "━": [2, 2, 0, 0], "┃": [0, 0, 2, 2], "╭": [0, 1, 0, 1], "╮": [1, 0, 0, 1], "╰": [0, 1, 1, 0], "╯": [1, 0, 1, 0],
  "⎿": [0, 1, 1, 0],
};
/** Block characters as parts of a cell: x, y, width, height. */
const BLOCKS = {
  "█": [0, 0, 1, 1],
  "▌": [0, 0, 0.5, 1],
  "▐": [0.5, 0, 0.5, 1],
  "▀": [0, 0, 1, 0.5],
  "▄": [0, 0.5, 1, 0.5],
};

/**
 * Draws one screen.
 * @param {string} text as for `parseScreen`
 * @param {{columns: number, rows: number, title?: string, theme?: "dark" | "light"}} options size in cells; a title
 *   adds a title bar
 */
export function screenToSvg(text, options) {
  return screensToSvg([{ text, ms: 0 }], options);
}

/**
 * Draws screens one after the other, in an endless loop. A viewer without animation shows the last one.
 * @param {{text: string, ms: number}[]} screens each with the milliseconds for which it is shown
 * @param {{columns: number, rows: number, title?: string, theme?: "dark" | "light"}} options as for {@link screenToSvg}
 */
export function screensToSvg(screens, { columns, rows, title, theme = "dark" }) {
  const colors = THEMES[theme];
  const head = title === undefined ? 0 : TITLE_BAR;
  const width = Math.ceil(columns * CELL.width + 2 * MARGIN);
  const height = Math.ceil(rows * CELL.height + 2 * MARGIN + head);
  const drawn = screens.map(({ text }) => {
    const screen = parseScreen(text, theme).slice(0, rows);
    return screen.map((cells, y) => rowToSvg(cells, y, colors));
  });
  const shown = Array.from({ length: rows }, (_, y) =>
    animatedRow(
      drawn.map((row) => row[y] ?? ""),
      screens,
    ),
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="${FONT}" font-size="${CELL.font}" fill="${colors.ink}" xml:space="preserve">`,
    `<title>${escapeXml(title ?? "A tmux window")}</title>`,
    `<rect width="${width}" height="${height}" rx="9" fill="${colors.ground}" stroke="${colors.frame}"/>`,
    ...(title === undefined ? [] : [titleBar(title, width, colors)]),
    `<g transform="translate(${MARGIN} ${MARGIN + head})">`,
    ...shown.flat(),
    "</g>",
    "</svg>",
    "",
  ].join("\n");
}

/** Draws each version of a row once, for the time for which it is shown. */
function animatedRow(versions, screens) {
  const total = screens.reduce((sum, { ms }) => sum + ms, 0);
  const spans = [];
  let start = 0;
  for (const [i, row] of versions.entries()) {
    const end = start + screens[i].ms;
    const last = spans.at(-1);
    if (last?.row === row) last.end = end;
    else spans.push({ row, start, end });
    start = end;
  }
  const [only, ...more] = spans;
  if (more.length === 0) return only.row === "" ? [] : [only.row];
  return spans.filter(({ row }) => row !== "").map((span) => timed(span, total));
}

function timed({ row, start, end }, total) {
  const isLast = end === total;
  const steps = [
    ...(start === 0 ? [] : [[0, "hidden"]]),
    [start / total, "visible"],
    ...(isLast ? [] : [[end / total, "hidden"]]),
  ];
  const times = steps.map(([at]) => Number(at.toFixed(4))).join(";");
  const values = steps.map(([, value]) => value).join(";");
  const move = `<animate attributeName="visibility" calcMode="discrete" dur="${total}ms" repeatCount="indefinite" keyTimes="${times}" values="${values}"/>`;
  return `<g visibility="${isLast ? "visible" : "hidden"}">${move}${row}</g>`;
}

function titleBar(title, width, colors) {
  const dots = ["#ff5f57", "#febc2e", "#28c840"].map(
    (color, i) => `<circle cx="${20 + i * 19}" cy="18" r="6" fill="${color}"/>`,
  );
  return `${dots.join("")}<text x="${width / 2}" y="22.5" text-anchor="middle" font-size="12.5" fill="${colors.title}">${escapeXml(title)}</text>`;
}

function rowToSvg(cells, y, colors) {
  const backgrounds = [];
  const marks = [];
  let x = 0;
  let run;
  for (const cell of cells) {
    const { fg, bg } = colorsOf(cell.style, colors);
    const last = backgrounds.at(-1);
    if (bg !== undefined && last?.bg === bg && last.end === x) last.end += cell.width;
    else if (bg !== undefined) backgrounds.push({ x, end: x + cell.width, bg });
    const drawn = drawing(cell.char, x, y, fg);
    if (drawn !== undefined) marks.push(drawn);
    else if (run !== undefined && joins(run, cell, x)) {
      run.text += cell.char;
      run.end = x + cell.width;
    } else if (cell.char !== " ") {
      run = { text: cell.char, x, end: x + cell.width, style: cell.style, fg };
      marks.push(run);
    }
    x += cell.width;
  }
  // One rectangle for adjacent cells of a colour: separate ones would show seams.
  const pieces = backgrounds.map((area) => rect(area.x, y, [0, 0, area.end - area.x, 1], area.bg));
  const texts = marks.map((mark) => (typeof mark === "string" ? mark : textOf(mark, y, colors)));
  return [...pieces, ...texts].join("");
}

/**
 * Returns whether a cell continues a run of text. A non-ASCII character gets a separate text element, so that
 * its font width cannot shift its neighbours.
 */
function joins(run, cell, x) {
  return (
    run.end === x &&
    run.style === cell.style &&
    isAscii(run.text) &&
    isAscii(cell.char) &&
    !(cell.char === " " && run.text.endsWith(" "))
  );
}

function isAscii(text) {
  return /^[\x20-\x7e]+$/.test(text);
}

function textOf({ text, x, end, style, fg }, y, { ink }) {
  const shown = text.trimEnd();
  const cells = end - x - (text.length - shown.length);
  const attributes = [
    fg === ink ? "" : ` fill="${fg}"`,
    style.bold ? ' font-weight="bold"' : "",
    style.italic ? ' font-style="italic"' : "",
    style.dim ? ' opacity="0.6"' : "",
    style.underline ? ' text-decoration="underline"' : style.strike ? ' text-decoration="line-through"' : "",
  ].join("");
  const top = y * CELL.height + CELL.baseline;
  const position = isAscii(shown)
    ? `x="${round(x * CELL.width)}" y="${top}" textLength="${round(cells * CELL.width)}"`
    : `x="${round((x + cells / 2) * CELL.width)}" y="${top}" text-anchor="middle"`;
  return `<text ${position}${attributes}>${escapeXml(shown)}</text>`;
}

function drawing(char, x, y, fg) {
  if (Object.hasOwn(BLOCKS, char)) return rect(x, y, BLOCKS[char], fg);
  if (!Object.hasOwn(ARMS, char)) return undefined;
  const [left, right, up, down] = ARMS[char];
  const middle = { x: (x + 0.5) * CELL.width, y: (y + 0.5) * CELL.height };
  const arm = (weight, dx, dy) =>
    weight === 0
      ? ""
      : `M${round(middle.x)} ${round(middle.y)}l${round(dx * CELL.width * 0.5)} ${round(dy * CELL.height * 0.5)}`;
  const path = `${arm(left, -1, 0)}${arm(right, 1, 0)}${arm(up, 0, -1)}${arm(down, 0, 1)}`;
  const weight = Math.max(left, right, up, down) === 2 ? 2.6 : 1.1;
  return `<path d="${path}" stroke="${fg}" stroke-width="${weight}" fill="none"/>`;
}

function rect(x, y, [dx, dy, width, height], fill) {
  const at = `x="${round((x + dx) * CELL.width)}" y="${round((y + dy) * CELL.height)}"`;
  return `<rect ${at} width="${round(width * CELL.width)}" height="${round(height * CELL.height)}" fill="${fill}"/>`;
}

function round(value) {
  return Number(value.toFixed(2));
}

function escapeXml(text) {
  return text
    .replace(/[\x00-\x08\x0b-\x1f\x7f\ufffe\uffff]/g, "")
    .replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}
