import { callersServer } from "../backend/tmux/server-for.ts";
import type { Env } from "../os/env.ts";
import { isNoServer, type TmuxServer } from "../tmux/server.ts";
import { type Finding, ok, warn } from "./finding.ts";

/** What the server of the user says of itself, as far as it matters for panes of agents. */
interface TmuxView {
  /** Server, session and window options that hold for all, by name; those of a list joined by commas. */
  readonly options: ReadonlyMap<string, string>;
  /** Commands that run by themselves when panes or windows come, go or change, by hook. */
  readonly hooks: ReadonlyMap<string, string>;
  /** Of the attached clients: columns, lines, and what their terminals can do. */
  readonly clients: readonly { readonly width: number; readonly height: number; readonly features: string }[];
}

/** Looks at the user's tmux and says what makes agents' panes worse than they could be. Starts no server, changes nothing. */
export async function checkTmuxOptions(env: Env): Promise<Finding[]> {
  const view = await readTmuxView(callersServer(env));
  return view === undefined
    ? [ok("tmux options", "no server is running; they are checked once one is")]
    : judgeTmuxOptions(view);
}

/** Stands between what the commands of one call print; no option of tmux is called so. */
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

/** Hooks after which a plugin may put panes elsewhere than we did. */
const LAYOUT_HOOKS = /^(after-(split|new|kill|join|break|resize|select|swap)-|pane-|window-|client-resized)/;

/** Reads what the shows and the list print. Pure. */
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

/** `name value` or `name[3] value` a line; a name alone has no value. */
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

/** Milliseconds after which a person notices that Esc waits for more. */
const SLOW_ESCAPE = 50;
/** A window of fewer columns or lines holds no two agents side by side or above each other. */
const SMALL = { width: 80, height: 24 } as const;

/** What follows from it, each with its remedy. Pure. */
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

/** It is the terminal's word, or an option of ours for it, that tmux passes 24 bits of colour on. */
function colorFinding(options: TmuxView["options"], clients: TmuxView["clients"]): Finding {
  const told = `${options.get("terminal-features") ?? ""},${options.get("terminal-overrides") ?? ""}`;
  const all = clients.every(({ features }) => /(^|,)RGB(,|$)/i.test(features));
  if (clients.length > 0 ? all : /:(RGB|Tc)\b/i.test(told)) return ok("tmux true colour", "passed on");
  if (clients.length === 0) return ok("tmux true colour", "nobody is attached, so it cannot be told");
  const remedy = `If your terminal has it, in tmux.conf: set -as terminal-features ",*:RGB", and attach again.`;
  return warn("tmux true colour", "not passed on: colours are rounded to 256", remedy);
}

function escapeFinding(ms: number): Finding {
  if (ms <= SLOW_ESCAPE) return ok("tmux escape-time", `${ms} ms`);
  const text = `${ms} ms: Esc interrupts an agent that much later`;
  return warn("tmux escape-time", text, "In tmux.conf: set -s escape-time 10.");
}

function mouseFinding(value: string | undefined): Finding {
  if (value === "on") return ok("tmux mouse", "on");
  return warn(
    "tmux mouse",
    "off: the sidebar takes keys only, and the wheel does not scroll",
    "In tmux.conf: set -g mouse on.",
  );
}

function clipboardFinding(value: string | undefined): Finding {
  if (value === "on" || value === "external") return ok("tmux clipboard", value);
  const text = "off: what you copy in a pane stays in tmux";
  return warn("tmux clipboard", text, "In tmux.conf: set -s set-clipboard on.");
}

/** Commands that put panes elsewhere, or take the person there. */
const MOVES =
  /\b(select-layout|selectl|next-layout|previous-layout|resize-pane|resizep|swap-pane|swapp|join-pane|joinp|break-pane|breakp|move-pane|movep|rotate-window|rotatew|run-shell|run)\b/;

function hookFinding(hooks: TmuxView["hooks"]): Finding {
  const moving = [...hooks].filter(([, command]) => MOVES.test(command)).map(([name]) => name);
  if (moving.length === 0) return ok("tmux hooks", "none that rearranges panes");
  const text = `${moving.join(", ")} may rearrange agents' panes`;
  return warn("tmux hooks", text, "A plugin or tmux.conf set them: `tmux show-hooks -g` shows what they do.");
}

function sizeFinding(rule: string | undefined, clients: TmuxView["clients"]): Finding {
  const sizes = clients.map(({ width, height }) => `${width}×${height}`).join(", ");
  const small = clients.some(({ width, height }) => width < SMALL.width || height < SMALL.height);
  if (small) {
    const text = `${sizes}: a window holds fewer than two agents`;
    return warn("tmux size", text, `Make the terminal at least ${SMALL.width}×${SMALL.height}.`);
  }
  if (rule === "smallest" && clients.length > 1) {
    const remedy = "In tmux.conf: set -g window-size latest.";
    return warn("tmux size", `${sizes}; every window is as small as the smallest terminal`, remedy);
  }
  return ok("tmux size", sizes || "nobody is attached");
}
