import { callersServer } from "../backend/tmux/server-for.ts";
import type { Env } from "../os/env.ts";
import { isNoServer, type TmuxServer } from "../tmux/server.ts";
import { type Finding, ok, warn } from "./finding.ts";

/** The state of the user's tmux server that matters for the agents' panes. */
interface TmuxView {
  /** Global server, session and window options, by name; the values of a list are joined by commas. */
  readonly options: ReadonlyMap<string, string>;
  /** Commands that tmux runs when panes or windows are created, closed or changed, by hook. */
  readonly hooks: ReadonlyMap<string, string>;
  /** The attached clients: columns, lines and terminal features. */
  readonly clients: readonly { readonly width: number; readonly height: number; readonly features: string }[];
}

/** Checks the user's tmux for options that make agents' panes worse. Starts no server and changes nothing. */
export async function checkTmuxOptions(env: Env): Promise<Finding[]> {
  const view = await readTmuxView(callersServer(env));
  return view === undefined
    ? [ok("tmux options", "no server is running; the options are checked when one runs")]
    : judgeTmuxOptions(view);
}

/** Separates the output of the commands in one call; no tmux option has this name. */
const NEXT = "=next=";

async function readTmuxView(server: TmuxServer): Promise<TmuxView | undefined> {
  const next = ["display-message", "-p", NEXT];
  const options = [
    ["show-options", "-s"],
    ["show-options", "-g"],
    ["show-options", "-gw"],
  ];
  const clients = ["list-clients", "-F", "#{client_width} #{client_height} #{client_termfeatures}"];
  try {
    const { lines } = await server.batch([...options, next, ["show-hooks", "-g"], next, clients]);
    return parseTmuxView(lines);
  } catch (error) {
    if (isNoServer(error)) return undefined;
    throw error;
  }
}

/** Hooks in which a plugin may rearrange panes. */
const LAYOUT_HOOKS =
  /^(after-(split|new|kill|join|break|rename|resize|select|swap)-|pane-|window-|client-resized)/;

/** Parses the output of the show and list commands. Pure. */
export function parseTmuxView(lines: readonly string[]): TmuxView {
  const [first, second] = [lines.indexOf(NEXT), lines.lastIndexOf(NEXT)];
  return {
    options: valuesOf(lines.slice(0, first)),
    hooks: new Map([...valuesOf(lines.slice(first + 1, second))].filter(([name]) => LAYOUT_HOOKS.test(name))),
    clients: lines.slice(second + 1).map((line) => {
      const [width, height, features = ""] = line.split(" ");
      return { width: Number(width), height: Number(height), features };
    }),
  };
}

/** Parses lines of the form `name value` or `name[3] value`; a name alone has no value. */
function valuesOf(lines: readonly string[]): Map<string, string> {
  const values = new Map<string, string>();
  for (const line of lines) {
    const [, name = "", value = ""] = /^(@?[\w-]+)(?:\[\d+\])? (.*)$/s.exec(line) ?? [];
    if (value === "") continue;
    const before = values.get(name);
    values.set(name, before === undefined ? unquoted(value) : `${before},${unquoted(value)}`);
  }
  return values;
}

function unquoted(value: string): string {
  return /^"(.*)"$/s.exec(value)?.[1]?.replace(/\\(.)/gs, "$1") ?? value;
}

/** Milliseconds: with a longer escape-time, the user notices the delay of Esc. */
const SLOW_ESCAPE = 50;
/** A smaller window has no room for two agents, neither side by side nor one above the other. */
const SMALL = { width: 80, height: 24 } as const;

/** Returns the findings about a tmux server. Pure. */
export function judgeTmuxOptions({ options, hooks, clients }: TmuxView): Finding[] {
  return [
    terminalFinding(options.get("default-terminal") ?? ""),
    colorFinding(options, clients),
    escapeFinding(Number(options.get("escape-time") ?? 0)),
    mouseFinding(options.get("mouse")),
    clipboardFinding(options.get("set-clipboard")),
    ok(
      "tmux numbering",
      `windows from ${options.get("base-index") ?? 0}, panes from ${options.get("pane-base-index") ?? 0}`,
    ),
    hookFinding(hooks),
    sizeFinding(options.get("window-size"), clients),
  ];
}

function terminalFinding(name: string): Finding {
  if (/256color|direct/.test(name)) return ok("tmux default-terminal", name);
  const text = `${name || "not set"}: programs in panes expect few colours`;
  return warn("tmux default-terminal", text, 'In tmux.conf: set -g default-terminal "tmux-256color".');
}

/** tmux passes on 24-bit colours if the terminal reports them, or if an option says that it has them. */
function colorFinding(options: TmuxView["options"], clients: TmuxView["clients"]): Finding {
  const configured = `${options.get("terminal-features") ?? ""},${options.get("terminal-overrides") ?? ""}`;
  const all = clients.every(({ features }) => /(^|,)RGB(,|$)/i.test(features));
  if (clients.length > 0 ? all : /:(RGB|Tc)\b/i.test(configured)) return ok("tmux true colour", "passed on");
  if (clients.length === 0) return ok("tmux true colour", "not known: no client is attached");
  const remedy = `If your terminal has true colour, in tmux.conf: set -as terminal-features ",*:RGB", and attach again.`;
  return warn("tmux true colour", "not passed on: colours are rounded to 256", remedy);
}

function escapeFinding(ms: number): Finding {
  if (ms <= SLOW_ESCAPE) return ok("tmux escape-time", `${ms} ms`);
  const text = `${ms} ms: Esc interrupts an agent with this delay`;
  return warn("tmux escape-time", text, "In tmux.conf: set -s escape-time 10.");
}

function mouseFinding(value: string | undefined): Finding {
  if (value === "on") return ok("tmux mouse", "on");
  return warn(
    "tmux mouse",
    "off: the sidebar accepts only keys, and the mouse wheel does not scroll",
    "In tmux.conf: set -g mouse on.",
  );
}

function clipboardFinding(value: string | undefined): Finding {
  if (value === "on" || value === "external") return ok("tmux clipboard", value);
  const text = "off: what you copy in a pane stays in tmux";
  return warn("tmux clipboard", text, "In tmux.conf: set -s set-clipboard on.");
}

/** Commands that rearrange, create or rename panes and windows, or run a program that can. */
const MOVES = anyCommand(
  "select-layout|selectl|next-layout|nextl|previous-layout|prevl|resize-pane|resizep|swap-pane|swapp|join-pane|joinp|" +
    "break-pane|breakp|move-pane|movep|rotate-window|rotatew|split-window|splitw|new-window|neww|kill-pane|killp|" +
    "rename-window|renamew|rename-session|rename|run-shell|run",
);
/** Commands that wait for the user or another program; in an `after-` hook, the command before it waits too. */
const WAITS = anyCommand(
  "command-prompt|confirm-before|confirm|display-menu|menu|display-popup|popup|display-panes|displayp|wait-for|wait",
);

function anyCommand(names: string): RegExp {
  return new RegExp(`(?<![\\w-])(${names})(?![\\w-])`);
}

function hookFinding(hooks: TmuxView["hooks"]): Finding {
  const named = (pattern: RegExp, of = /./): string[] =>
    [...hooks].filter(([name, command]) => of.test(name) && pattern.test(command)).map(([name]) => name);
  const [moving, waiting] = [named(MOVES), named(WAITS, /^after-/)];
  const texts = [
    ...(moving.length === 0 ? [] : [`${moving.join(", ")} may rearrange agents' panes`]),
    ...(waiting.length === 0 ? [] : [`${waiting.join(", ")} may wait, which delays starts and ends`]),
  ];
  if (texts.length === 0) return ok("tmux hooks", "none that rearranges panes or waits");
  const remedy = "A plugin or tmux.conf set these hooks. To see them: tmux show-hooks -g";
  return warn("tmux hooks", texts.join("; "), remedy);
}

function sizeFinding(rule: string | undefined, clients: TmuxView["clients"]): Finding {
  const sizes = clients.map(({ width, height }) => `${width}×${height}`).join(", ");
  const small = clients.some(({ width, height }) => width < SMALL.width || height < SMALL.height);
  if (small) {
    const text = `${sizes}: a window has room for fewer than two agents`;
    return warn("tmux size", text, `Make the terminal at least ${SMALL.width}×${SMALL.height}.`);
  }
  if (rule === "manual") {
    const text =
      "window-size is manual: tmux 3.3 to 3.6 crash when a window is created, so teams creates none";
    return warn(
      "tmux size",
      text,
      "Set manual for single windows only. In tmux.conf: set -g window-size latest.",
    );
  }
  if (rule === "smallest" && clients.length > 1) {
    const remedy = "In tmux.conf: set -g window-size latest.";
    return warn("tmux size", `${sizes}; every window is as small as the smallest terminal`, remedy);
  }
  return ok("tmux size", sizes || "no client is attached");
}
