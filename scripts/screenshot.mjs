/**
 * Takes a screenshot of an attached tmux session: panes, borders, titles, status line.
 *
 *   node scripts/screenshot.mjs --socket NAME --target '=session:' --out docs/team.svg [--png docs/team.png]
 *                               [--title TEXT] [--theme light] [--columns N --rows N]
 *
 * --socket is a name (-L) or a path (-S). PNG needs rsvg-convert (librsvg2-bin).
 */
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { THEMES } from "./lib/ansi-screen.mjs";
import { screenToSvg } from "./lib/ansi-svg.mjs";
import { attachClient, callTmux } from "./lib/attached-client.mjs";

const DEADLINE_MS = 10_000;
/** The screen counts as drawn when it is unchanged for this many milliseconds. */
const QUIET_MS = 300;

const { values: options } = parseArgs({
  options: {
    socket: { type: "string" },
    target: { type: "string" },
    out: { type: "string" },
    png: { type: "string" },
    title: { type: "string" },
    theme: { type: "string", default: "dark" },
    columns: { type: "string" },
    rows: { type: "string" },
  },
});

const problem = problemOf(options);
if (problem !== undefined) {
  console.error(problem);
  console.error(
    "usage: node scripts/screenshot.mjs --socket NAME|PATH --target '=session:' [--out FILE.svg] [--png FILE.png]\n" +
      "       [--title TEXT] [--theme dark|light] [--columns N] [--rows N]",
  );
  process.exitCode = 2;
} else {
  const size = windowSize();
  if (!size) {
    // tmux reports no error for a missing window.
    console.error(
      `there is no window ${options.target}; '=session:' (with its colon) is the current window of a session`,
    );
    process.exit(2);
  }
  const { title, theme } = options;
  const svg = screenToSvg(await captureScreen(size), { ...size, title, theme });
  if (options.out) write(options.out, svg);
  if (options.png) {
    fs.mkdirSync(path.dirname(path.resolve(options.png)), { recursive: true });
    execFileSync("rsvg-convert", ["--zoom", "2", "--output", options.png], { input: svg });
  }
}

/** Returns which option is missing or wrong; undefined if all are usable. */
function problemOf({ socket, target, out, png, theme }) {
  if (!socket) return "--socket is missing";
  if (!target) return "--target is missing";
  if (!out && !png) return "--out or --png is missing";
  if (!Object.hasOwn(THEMES, theme)) return `--theme must be one of: ${Object.keys(THEMES).join(", ")}`;
  return undefined;
}

function socketArguments() {
  return options.socket.includes("/") ? ["-S", options.socket] : ["-L", options.socket];
}

/** Returns the size of the window with its status line; undefined if the window does not exist. */
function windowSize() {
  const format = "#{window_width} #{window_height} #{status}";
  const answer = callTmux([
    ...socketArguments(),
    "display-message",
    "-p",
    "-t",
    options.target,
    format,
  ]).trim();
  const [width, height, status] = answer.split(" ");
  if (!(Number(width) > 0 && Number(height) > 0)) return undefined;
  const lines = status === "off" ? 0 : status === "on" ? 1 : Number(status);
  return { columns: Number(options.columns ?? width), rows: Number(options.rows ?? Number(height) + lines) };
}

async function captureScreen({ columns, rows }) {
  const client = attachClient({ server: socketArguments(), target: options.target, columns, rows });
  try {
    return await settled(client.capture);
  } finally {
    client.close();
  }
}

/** Returns the screen's text once it is not empty and stays unchanged for `QUIET_MS`; after `DEADLINE_MS`, its last text. */
async function settled(capture) {
  const end = Date.now() + DEADLINE_MS;
  let seen = "";
  let since = Date.now();
  while (Date.now() < end) {
    const now = capture();
    if (now !== seen) {
      seen = now;
      since = Date.now();
    } else if (now.trim() !== "" && Date.now() - since >= QUIET_MS) return now;
    await delay(50);
  }
  return seen;
}

function write(file, text) {
  fs.mkdirSync(path.dirname(path.resolve(file)), { recursive: true });
  fs.writeFileSync(file, text);
}
