import { randomUUID } from "node:crypto";
import { dirname, join } from "node:path";
import { TeamError } from "../../errors.ts";
import type { LaunchScriptInput } from "../../launch/launch-script.ts";
import { discardLaunch, prepareLaunches } from "../../launch/prepare.ts";
import { type Clock, systemClock } from "../../os/clock.ts";
import type { Env } from "../../os/env.ts";
import { startTimeOf } from "../../os/process/identity.ts";
import type { PlaceRecord } from "../../schema/status.ts";
import { withLock } from "../../store/lock.ts";
import { capturePanes } from "../../tmux/capture.ts";
import { onlyIf } from "../../tmux/command.ts";
import { type WindowId, windowId } from "../../tmux/ids.ts";
import { listPanes, type PaneList } from "../../tmux/list-panes.ts";
import { readScreen } from "../../tmux/screen.ts";
import { isNoServer, type TmuxServer } from "../../tmux/server.ts";
import { requireSupported } from "../../tmux/version.ts";
import { awaitStart, withInstanceMarker } from "../await-start.ts";
import type { Backend, NotHereReason, Placement, SpawnOutcome, SpawnRequest } from "../backend.ts";
import { HISTORY_ROWS, visibleRowsOfScreen } from "../visible-rows.ts";
import { coalesce } from "./coalesce.ts";
import type { PaneSize } from "./grid.ts";
import { type CreatedPane, createCommands, finishCommands, parseCreatedPanes } from "./pane-commands.ts";
import { identityCondition, TAG } from "./pane-tags.ts";
import { type PanePlan, PLAN_OPTIONS, planPanes } from "./plan-panes.ts";
import { serverAt } from "./server-for.ts";
import { evenOutStacks, restoreUserLayout, STACK_OPTIONS } from "./stack.ts";
import { releaseWindow } from "./team-window.ts";
import { recordZoom, restoreZoom } from "./zoom.ts";

interface TmuxPaneOptions {
  /** The server for new panes; existing panes are found on the server of their record. */
  readonly server: TmuxServer;
  readonly env: Env;
  /** Smallest pane of a teammate, in cells; a spawn that would go below it opens another window. */
  readonly minPane?: PaneSize | undefined;
  /** Milliseconds until a teammate must be ready. */
  readonly readyTimeoutMs?: number;
  readonly clock?: Clock;
  /** Returns the driver of another server, by its socket; for tests that count or replace calls. */
  readonly serverAt?: (socket: string) => TmuxServer;
}

/** Creates the backend for teammates in tmux panes. A spawn of any size forks tmux three times, another operation mostly once. */
export function tmuxPaneBackend(options: TmuxPaneOptions): Backend {
  const { server, env, minPane, clock = systemClock } = options;
  const at = options.serverAt ?? ((socket: string) => serverAt(socket, env));

  // A lead spawns several teammates in one turn, one after the other.
  const panes = coalesce(
    (requests: readonly SpawnRequest[], placement: Placement) =>
      createPanes(server, requests, placement, minPane),
    ([first], { kind, callerPane = "" }) =>
      `${first?.paths.run && dirname(first.paths.run)} ${kind} ${callerPane}`,
  );

  return {
    type: "tmux",

    announceSpawn: panes.announce,

    async spawn(wanted, placement) {
      if (wanted.length === 0) return [];
      const requests = withInstanceMarker(wanted);
      const { created, stacked, notHere, errors } = await panes.enqueue(requests, placement);
      const spawnedAt = clock.now();
      return Promise.all(
        requests.map(async (request): Promise<SpawnOutcome> => {
          const pane = created.get(request.instance);
          if (pane === undefined) {
            discardLaunch(request.paths);
            return { ok: false, name: request.name, error: notCreated(request, errors) };
          }
          const beside = stacked.get(request.instance);
          const place = placeOf(
            request,
            pane,
            { placement: placement.kind, ...(beside && { beside }) },
            spawnedAt,
          );
          const outcome = await awaitStart(request, place, {
            timeoutMs: options.readyTimeoutMs,
            close: () => closePanes(server, [place]),
          });
          return outcome.ok && notHere && beside === undefined ? { ...outcome, notHere } : outcome;
        }),
      );
    },

    async present(places) {
      const present = new Set<string>();
      for (const [socket, group] of bySocket(places)) {
        const seen = await listPanes(at(socket), [TAG.agent]);
        for (const place of group) if (isThere(place, seen)) present.add(place.instance);
      }
      return present;
    },

    async capture(place, lines) {
      const identity = identityCondition(place);
      if (identity === undefined || place.server === undefined) return undefined;
      const [rows] = await capturePanes(at(place.server.socket), [identity], lines);
      return rows && lastRows(rows, lines);
    },

    async visibleRows(place) {
      const identity = identityCondition(place);
      if (identity === undefined || place.server === undefined) return undefined;
      const server = at(place.server.socket);
      const screen = await readScreen(server, identity.pane, identity.condition, HISTORY_ROWS);
      return screen && visibleRowsOfScreen(screen);
    },

    async close(places) {
      for (const [socket, group] of bySocket(places)) await closePanes(at(socket), group);
    },
  };
}

interface CreatedPanes {
  readonly created: ReadonlyMap<string, CreatedPane>;
  /** For each pane next to the caller, by instance: its window and the earlier layout of that window. */
  readonly stacked: ReadonlyMap<string, PlaceRecord["beside"]>;
  /** Why other panes are not next to the caller, if that was requested. */
  readonly notHere?: NotHereReason | undefined;
  readonly errors: readonly string[];
}

/**
 * Makes the three calls of a spawn: list panes, create panes, tag them. A lock serialises the spawns of a team, so that the second
 * one finds the window of the first; it is released before the agents are ready.
 * @throws TeamError if tmux does not work; nothing is left behind
 */
async function createPanes(
  server: TmuxServer,
  requests: readonly SpawnRequest[],
  placement: Placement,
  minPane: PaneSize | undefined,
): Promise<CreatedPanes> {
  const [first] = requests;
  if (first === undefined) return { created: new Map(), stacked: new Map(), errors: [] };
  const preparing = prepareLaunches(requests.map(scriptOf));
  const making = withLock(join(dirname(first.paths.run), "panes"), async (): Promise<CreatedPanes> => {
    // Both fork a program; run them in parallel.
    const [seen] = await Promise.all([listPanes(server, PLAN_OPTIONS), preparing]);
    const plan = planPanes(seen, first, requests.length, placement, minPane);
    const { lines, errors } = await server.batch(createCommands(plan, requests, randomUUID()), {
      start: !seen.running,
      serverPid: seen.serverPid,
    });
    const created = parseCreatedPanes(lines);
    // The version of a server that was not running is unknown until now.
    if (created.size === 0 && !seen.running) requireSupported(await server.version());
    const [some] = created.values();
    const settled =
      some === undefined
        ? { errors: [] }
        : await server.batch(finishCommands(plan, requests, created), { serverPid: some.serverPid });
    const notHere = placement.kind === "here" ? plan.notHere : undefined;
    return { created, stacked: stackedOf(plan, requests), notHere, errors: [...errors, ...settled.errors] };
  });
  const [prepared, panes] = await Promise.allSettled([preparing, making]);
  // Remove nothing here: the preparation fails if a foreign file has one of its names, and that file must stay.
  if (prepared.status === "rejected") throw prepared.reason;
  if (panes.status === "fulfilled") return panes.value;
  for (const { paths } of requests) discardLaunch(paths);
  throw panes.reason;
}

/** The stacked panes belong to the first requests of the plan. */
function stackedOf({ stack }: PanePlan, requests: readonly SpawnRequest[]): CreatedPanes["stacked"] {
  if (stack === undefined) return new Map();
  const beside = { window: stack.window, layout: stack.before };
  return new Map(requests.slice(0, stack.count).map(({ instance }) => [instance, beside]));
}

function scriptOf(request: SpawnRequest): LaunchScriptInput {
  return {
    agentId: request.agentId,
    cwd: request.cwd,
    paths: request.paths,
    keptVariables: Object.keys(request.env),
    bells: request.bells,
    surface: "pane",
  };
}

async function closePanes(server: TmuxServer, places: readonly PlaceRecord[]): Promise<void> {
  const commands = places.flatMap((place) => {
    const identity = identityCondition(place);
    if (identity === undefined) return [];
    return [onlyIf(identity.pane, identity.condition, ["kill-pane", "-t", identity.pane])];
  });
  if (commands.length === 0) return;
  try {
    const stacked = places.filter(({ beside }) => beside !== undefined);
    // A team window lays itself out by its hooks; the user's window of a stack has none.
    const seen = stacked.length > 0 ? await listPanes(server, STACK_OPTIONS) : undefined;
    const closing = new Set(places.flatMap(({ paneId: id }) => id ?? []));
    const after =
      seen === undefined
        ? []
        : [...evenOutStacks(seen, closing), ...restoreUserLayout(seen, stacked, closing)];
    const windows = windowsOf(places);
    await server.batch(
      [
        ...windows.map(({ window }) => recordZoom(window)),
        ...commands,
        ...after,
        ...windows.map(({ window }) => restoreZoom(window)),
        // A window stays if the user has a pane in it.
        ...windows.map(({ window, serverPid }) => releaseWindow(window, serverPid)),
      ],
      { serverPid: seen?.serverPid },
    );
  } catch (error) {
    // Without the server, all its panes are closed already.
    if (!isNoServer(error)) throw error;
  }
}

/** Returns the windows that the panes were created in, and the users' windows that they were moved to. */
function windowsOf(
  places: readonly PlaceRecord[],
): readonly { readonly window: WindowId; readonly serverPid: number }[] {
  const windows = new Map(
    places.flatMap(({ windowId: own, beside, server }) =>
      [own, beside?.window].map((id) => [windowId(id), server?.pid] as const),
    ),
  );
  return [...windows].flatMap(([window, serverPid]) =>
    window === undefined || serverPid === undefined ? [] : [{ window, serverPid }],
  );
}

function placeOf(
  request: SpawnRequest,
  pane: CreatedPane,
  wanted: Pick<PlaceRecord, "placement" | "beside">,
  spawnedAt: number,
): PlaceRecord {
  return {
    instance: request.instance,
    backend: "tmux",
    paneId: pane.pane,
    windowId: pane.window,
    session: pane.session,
    ...wanted,
    server: { socket: pane.socket, pid: pane.serverPid, procStart: startTimeOf(pane.serverPid) ?? "" },
    panePid: pane.pid,
    paneProcStart: startTimeOf(pane.pid) ?? "",
    spawnedAt,
  };
}

function isThere(place: PlaceRecord, seen: PaneList): boolean {
  if (place.server !== undefined && seen.serverPid !== place.server.pid) return false;
  return seen.panes.some(
    (pane) =>
      pane.id === place.paneId && pane.pid === place.panePid && pane.options[TAG.agent] === place.instance,
  );
}

function bySocket(places: readonly PlaceRecord[]): ReadonlyMap<string, readonly PlaceRecord[]> {
  const groups = new Map<string, PlaceRecord[]>();
  for (const place of places) {
    const socket = place.server?.socket;
    if (socket !== undefined) groups.set(socket, [...(groups.get(socket) ?? []), place]);
  }
  return groups;
}

/** Returns the last rows, without blank rows at the end. */
function lastRows(rows: readonly string[], count: number): readonly string[] {
  const end = rows.findLastIndex((row) => row.trim() !== "") + 1;
  return rows.slice(Math.max(0, end - count), end);
}

function notCreated(request: SpawnRequest, errors: readonly string[]): TeamError {
  const why = [...new Set(errors)].join("; ") || "it gave no reason";
  const isFull = /no space/.test(why);
  return new TeamError("TMUX_ERROR", `tmux created no pane for ${request.name}: ${why}.`, {
    hint: isFull
      ? "Nothing was started. Enlarge the window, or use --session for a separate session."
      : "Nothing was started. Check which tmux server is used (outside tmux: $TEAMS_TMUX_SOCKET, a name as for tmux -L).",
    details: { kind: "refused", errors },
  });
}
