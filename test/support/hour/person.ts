import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect } from "vitest";
import { THEMES, type ThemeName } from "../../../scripts/lib/ansi-screen.mjs";
import { screenToSvg } from "../../../scripts/lib/ansi-svg.mjs";
import { TAG } from "../../../src/backend/tmux/pane-tags.ts";
import { unreadableParts } from "../assertions/readable-colors.ts";
import { eventually } from "../timing/eventually.ts";
import type { PrivateTmux, Terminal } from "../tmux/private-tmux.ts";

/** The size and the theme of a terminal. */
export interface TerminalSetup {
  readonly width: number;
  readonly height: number;
  readonly theme: ThemeName;
}

/** Texts in this order. A space in a string also matches the end of a row; a pattern is used as it is. */
type Shown = readonly (string | RegExp)[];

/** A person at a terminal, attached to the session `work`. */
export interface Person extends Pick<Terminal, "screen" | "type"> {
  /** Waits until the terminal, or its active pane alone, shows these texts. @returns its text */
  sees(...shown: Shown): Promise<string>;
  /** Like `sees`, for the active pane with its history since the last command of its shell. */
  reads(...shown: Shown): Promise<string>;
  /** Types a line and Enter. */
  enter(line: string): void;
  /** Goes to the pane of a teammate with tmux's keys. */
  goesTo(name: string): Promise<void>;
  /** Checks that all text on the screen is readable in dark and light colours, and saves a picture. */
  snapshot(step: string): void;
}

/** Saves a numbered picture of one terminal. */
export type SavePicture = (step: string, drawn: string) => void;

/** Saves pictures in a separate directory below `$PICTURES`, each in both themes. Without the variable, saves none. */
export function pictureSaver({ width, height }: TerminalSetup): SavePicture {
  const { PICTURES = "" } = process.env;
  let count = 0;
  return (step, drawn) => {
    if (PICTURES === "") return;
    count += 1;
    const directory = resolve(PICTURES, `${width}x${height}`);
    mkdirSync(directory, { recursive: true });
    for (const theme of ["dark", "light"] as const) {
      const name = `${String(count).padStart(2, "0")}-${step}-${theme}.svg`;
      const size = { columns: width, rows: height };
      writeFileSync(join(directory, name), screenToSvg(drawn, { ...size, theme, title: step }));
    }
  };
}

/** Starts the session `work` with a shell in a directory, and attaches the person's terminal to it. */
export async function openTerminal(
  t: PrivateTmux,
  cwd: string,
  setup: TerminalSetup,
  save: SavePicture,
): Promise<Person> {
  const { width, height, theme } = setup;
  t.tmux(
    ...["new-session", "-d", "-s", "work", "-n", "mine", "-c", cwd, "-x", `${width}`, "-y", `${height}`],
    // Sets PATH for the windows that the person opens. tmux gives the first window the PATH of its client.
    ...["-e", `PATH=${t.env.PATH}`, "--", "env", "PS1=$ ", `PATH=${t.env.PATH}`, "sh"],
  );
  const { ink, ground } = THEMES[theme];
  const terminal = await t.attach("=work:", setup, `fg=${ink},bg=${ground}`);
  const factsOf = (format: string): string => t.tmux("display-message", "-p", "-t", "=work:", format);
  const waitFor = async (shown: Shown, texts: () => readonly string[]): Promise<string> => {
    const wanted = patternOf(shown);
    const find = (): string | undefined => texts().find((text) => wanted.test(text));
    return eventually(`${wanted} on the screen`, find).catch((cause: unknown) => {
      const screen = terminal.screen().trimEnd();
      throw new Error(`${wanted} did not appear in ${width}×${height}. The screen:\n${screen}`, { cause });
    });
  };
  const person: Person = {
    screen: terminal.screen,
    type: terminal.type,
    sees: (...shown) =>
      waitFor(shown, () => {
        const screen = terminal.screen();
        return [screen, partOf(screen, factsOf(PANE_PLACE))];
      }),
    reads: (...shown) =>
      waitFor(shown, () => {
        const text = t.tmux("capture-pane", "-p", "-J", "-S", "-500", "-t", "=work:");
        const command = [...text.matchAll(/^\$ \S/gm)].at(-1);
        return [text.slice(command?.index ?? 0)];
      }),
    enter(line) {
      terminal.type("-l", line);
      terminal.type("Enter");
    },
    async goesTo(name) {
      const format = `#{window_index} #{s/@.*//:${TAG.agentId}}`;
      const list = (): string[] => t.tmux("list-panes", "-s", "-t", "=work:", "-F", format).split("\n");
      const place = await eventually(`the pane of ${name}`, () =>
        list().find((row) => row.endsWith(` ${name}`)),
      );
      const [window = ""] = place.split(" ");
      terminal.type("C-b", window);
      await eventually(`the window of ${name}`, () => factsOf("#{window_index}") === window);
      let left: string | undefined;
      await eventually(`the active pane of ${name}`, () => {
        const active = factsOf(format);
        if (active === place) return true;
        // Each press goes one pane further.
        if (active !== left) terminal.type("C-b", "o");
        left = active;
        return false;
      });
    },
    snapshot(step) {
      const drawn = terminal.drawn();
      save(step, drawn);
      // The last row is tmux's status line.
      const rows = drawn.split("\n").slice(0, height - 1);
      // The program draws the same in every theme, so the screen must be readable in both.
      for (const colors of ["dark", "light"] as const)
        expect([step, colors, unreadableParts(rows.join("\n"), colors)]).toEqual([step, colors, []]);
    },
  };
  await person.sees(/^\$/);
  return person;
}

function patternOf(shown: Shown): RegExp {
  const sources = shown.map((part) =>
    typeof part === "string" ? part.split(" ").map(escaped).join("\\s+") : part.source,
  );
  return new RegExp(sources.join("[\\s\\S]*"), "m");
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}

const PANE_PLACE = "#{pane_left} #{pane_top} #{pane_width} #{pane_height}";

/** Cuts a pane out of a screen. */
function partOf(screen: string, place: string): string {
  const [left = 0, top = 0, width = 0, height = 0] = place.split(" ").map(Number);
  const right = left + width;
  const rows = screen.split("\n").slice(top, top + height);
  return rows.map((row) => [...row].slice(left, right).join("").trimEnd()).join("\n");
}
