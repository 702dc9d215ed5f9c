import type { HistoryCosts } from "./benches/history.ts";
import { format } from "./table.ts";

/** The drawing area of one panel, in units of the picture. */
const PANEL = { width: 330, height: 250, top: 96, left: 64, gap: 64 };
const HEIGHT = PANEL.top + PANEL.height + 40;
/** The distance between a panel's edge and its first point. */
const MARGIN = 18;
/** The first and last decade of the time scale, as powers of ten milliseconds. */
const DECADES = { least: -3, most: 3 };

const STYLE = `
    text { font: 12px system-ui, -apple-system, "Segoe UI", "Liberation Sans", sans-serif; fill: #59636e; }
    .card { fill: #ffffff; stroke: #d1d9e0; }
    .title { font-size: 17px; font-weight: 600; fill: #1f2328; }
    .panel { font-size: 13px; font-weight: 600; fill: #1f2328; }
    .grid { stroke: #d1d9e0; stroke-width: 1; opacity: 0.7; }
    .ours, .usual, .least { fill: none; stroke-width: 2.5; stroke-linecap: round; stroke-linejoin: round; }
    .ours { stroke: #0969da; } .usual { stroke: #bc4c00; } .least { stroke: #818b98; stroke-dasharray: 1 6; }
    circle.ours { fill: #0969da; } circle.usual { fill: #bc4c00; }
    text.ours, text.usual, text.least { font-weight: 600; stroke: none; }
    text.ours { fill: #0969da; } text.usual { fill: #bc4c00; } text.least { fill: #59636e; font-weight: 400; }
    @media (prefers-color-scheme: dark) {
      text { fill: #9198a1; }
      .card { fill: #0d1117; stroke: #3d444d; }
      .title, .panel { fill: #f0f6fc; }
      .grid { stroke: #3d444d; }
      .ours { stroke: #4493f8; } .usual { stroke: #f0883e; } .least { stroke: #656c76; }
      circle.ours { fill: #4493f8; } circle.usual { fill: #f0883e; }
      text.ours { fill: #4493f8; } text.usual { fill: #f0883e; } text.least { fill: #9198a1; }
    }`;

/** Draws the cost of one delivery by the number of messages sent before, one panel for each place. */
export function plot(costs: readonly HistoryCosts[]): string {
  if (costs.length === 0) throw new Error('Nothing to plot: the bench "history" did not run.');
  const width = PANEL.left + costs.length * (PANEL.width + PANEL.gap) - PANEL.gap + 24;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${HEIGHT}" width="${width}" height="${HEIGHT}" role="img" aria-labelledby="title">
  <title id="title">The cost of one delivery stays the same however many messages a team has sent</title>
  <style>${STYLE}
  </style>
  <rect class="card" x="0.5" y="0.5" width="${width - 1}" height="${HEIGHT - 1}" rx="10"/>
  <text class="title" x="24" y="34">Cost of delivering one message, by the messages sent before</text>
  <text x="24" y="54">median time of one delivery; logarithmic scales</text>
${costs.map((cost, index) => panel(cost, PANEL.left + index * (PANEL.width + PANEL.gap))).join("\n")}
</svg>
`;
}

function panel({ place, sizes, ours, usual, least }: HistoryCosts, left: number): string {
  const x = (index: number): number =>
    round(left + MARGIN + (index * (PANEL.width - 2 * MARGIN)) / Math.max(1, sizes.length - 1));
  const line = (name: string, times: readonly number[]): string =>
    `    <polyline class="${name}" points="${times.map((time, index) => `${x(index)},${y(time)}`).join(" ")}"/>`;
  const dots = (name: string, times: readonly number[]): string =>
    times.map((time, index) => `<circle class="${name}" cx="${x(index)}" cy="${y(time)}" r="3"/>`).join("");
  const last = sizes.length - 1;
  const label = (name: string, words: string, times: readonly number[], below: number): string => {
    const time = times[last] ?? Number.NaN;
    return `    <text class="${name}" x="${x(last)}" y="${y(time) + below}" text-anchor="end">${words}: ${format(time, "ms")}</text>`;
  };
  const [mine, theirs] = [ours, usual].map((costs) => costs.map(({ deliver }) => deliver)) as [
    number[],
    number[],
  ];
  const limit = sizes.map(() => least);
  const ticks = sizes.map(
    (size, index) =>
      `<text x="${x(index)}" y="${PANEL.top + PANEL.height + 20}" text-anchor="middle">${amount(size)}</text>`,
  );
  return [
    "  <g>",
    `    <text class="panel" x="${left}" y="${PANEL.top - 14}">${PLACES[place] ?? place}</text>`,
    grid(left),
    `    ${ticks.join("")}`,
    line("least", limit),
    line("usual", theirs) + dots("usual", theirs),
    line("ours", mine) + dots("ours", mine),
    label("usual", "read all, rewrite all", theirs, -12),
    label("ours", "teams", mine, -12),
    label("least", "a lock, a write and a rename", limit, 20),
    "  </g>",
  ].join("\n");
}

function grid(left: number): string {
  const lines: string[] = [];
  for (let decade = DECADES.least; decade <= DECADES.most; decade += 1) {
    const at = y(10 ** decade);
    lines.push(
      `    <line class="grid" x1="${left}" x2="${left + PANEL.width}" y1="${at}" y2="${at}"/>` +
        `<text x="${left - 8}" y="${at + 4}" text-anchor="end">${scale(decade)}</text>`,
    );
  }
  return lines.join("\n");
}

/** Returns the vertical position of a time. */
function y(ms: number): number {
  const share =
    (Math.log10(Math.max(ms, 10 ** DECADES.least)) - DECADES.least) / (DECADES.most - DECADES.least);
  return round(PANEL.top + PANEL.height * (1 - share));
}

/** Formats a power of ten milliseconds in its shortest unit. */
function scale(decade: number): string {
  if (decade >= 3) return `${10 ** (decade - 3)} s`;
  return decade < -1 ? `${10 ** (decade + 3)} µs` : `${10 ** decade} ms`;
}

function amount(messages: number): string {
  return messages >= 1000 ? `${messages / 1000}k` : `${messages}`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

const PLACES: Readonly<Record<string, string>> = {
  disk: "on a disk",
  memory: "in memory (tmpfs)",
};
