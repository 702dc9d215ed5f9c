import { type PaneId, paneId, type SessionId, sessionId, type WindowId, windowId } from "./ids.ts";
import { isGone, isNoServer, type TmuxServer } from "./server.ts";
import { parseVersion, requireSupported, type TmuxVersion } from "./version.ts";

/** One pane as the server lists it. Positions and sizes are in cells. */
export interface TmuxPane {
  readonly id: PaneId;
  readonly window: WindowId;
  readonly session: SessionId;
  readonly pid: number;
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  readonly windowWidth: number;
  readonly windowHeight: number;
  readonly dead: boolean;
  /** Above the other panes, outside the layout (tmux 3.7 and newer). */
  readonly floating: boolean;
  /** Values of the requested options, by name; tmux resolves them: of the pane, else its window, else its session. */
  readonly options: Readonly<Record<string, string>>;
  readonly sessionName: string;
}

export interface PaneList {
  readonly running: boolean;
  readonly serverPid: number | undefined;
  /** The version of the running server; undefined if none runs. */
  readonly version: TmuxVersion | undefined;
  readonly panes: readonly TmuxPane[];
}

const FIELDS = [
  "pane_id",
  "window_id",
  "session_id",
  "pane_pid",
  "pane_left",
  "pane_top",
  "pane_width",
  "pane_height",
  "window_width",
  "window_height",
  "pane_dead",
  "pid",
  "version",
  "pane_floating_flag",
] as const;

/**
 * Lists every pane of the server, in window order, in one call. The list is empty without a server, and for a server without
 * sessions (`exit-empty off`).
 * @param options user options (`@name`) or variables to read; their values must not contain a tab
 * @throws TmuxError if the server is older than 3.2, hangs or refuses
 */
export async function listPanes(server: TmuxServer, options: readonly string[] = []): Promise<PaneList> {
  const variables = [...FIELDS, ...options, "session_name"];
  const format = variables.map((name) => `#{${name}}`).join("\t");
  let text: string;
  try {
    text = await server.call(["list-panes", "-a", "-F", format]);
  } catch (error) {
    if (!isGone(error)) throw error;
    return { running: !isNoServer(error), serverPid: undefined, version: undefined, panes: [] };
  }
  // A user's hook can print other lines.
  const rows = text
    .split("\n")
    .map((line) => line.split("\t"))
    .filter((row) => row.length >= variables.length);
  const release = rows[0]?.[FIELDS.indexOf("version")];
  const version = release === undefined ? undefined : parseVersion(release);
  if (version !== undefined) requireSupported(version);
  const serverPid = Number(rows[0]?.[FIELDS.indexOf("pid")]);
  return {
    running: true,
    serverPid: Number.isInteger(serverPid) && serverPid > 0 ? serverPid : undefined,
    version,
    panes: rows.flatMap((row) => parsePane(row, options)),
  };
}

/** Parses one row; returns nothing for a row in another form. */
function parsePane(row: readonly string[], options: readonly string[]): TmuxPane[] {
  const [pane, window, session] = [paneId(row[0]), windowId(row[1]), sessionId(row[2])];
  const numbers = row.slice(3, 11).map(Number);
  if (pane === undefined || window === undefined || session === undefined) return [];
  if (numbers.some((value) => !Number.isInteger(value))) return [];
  const [pid = 0, left = 0, top = 0, width = 0, height = 0, windowWidth = 0, windowHeight = 0, dead = 0] =
    numbers;
  return [
    {
      id: pane,
      window,
      session,
      pid,
      left,
      top,
      width,
      height,
      windowWidth,
      windowHeight,
      dead: dead === 1,
      floating: row[FIELDS.indexOf("pane_floating_flag")] === "1",
      options: Object.fromEntries(options.map((name, i) => [name, row[FIELDS.length + i] ?? ""])),
      sessionName: row.slice(FIELDS.length + options.length).join("\t"),
    },
  ];
}
