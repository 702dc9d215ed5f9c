import { dirname } from "node:path";
import { discardLaunch } from "../../launch/prepare.ts";
import { type Clock, systemClock } from "../../os/clock.ts";
import type { Env } from "../../os/env.ts";
import { livenessOf, startTimeOf } from "../../os/process/identity.ts";
import type { PlaceRecord } from "../../schema/status.ts";
import { isLaunchScriptAlive } from "../../team/members/judge-liveness.ts";
import { type AttemptedBatch, attemptBatch } from "../../tmux/attempt-batch.ts";
import { capturePanes } from "../../tmux/capture.ts";
import { onlyIf, type TmuxCommand } from "../../tmux/command.ts";
import { type WindowId, windowId } from "../../tmux/ids.ts";
import { listPanes, type PaneList } from "../../tmux/list-panes.ts";
import { readScreen } from "../../tmux/screen.ts";
import { isNoServer, isUnreachable, type TmuxServer } from "../../tmux/server.ts";
import { awaitStart, withInstanceMarker } from "../await-start.ts";
import type { Backend, Placement, SpawnOutcome, SpawnRequest } from "../backend.ts";
import { HISTORY_ROWS, visibleRowsOfScreen } from "../visible-rows.ts";
import { coalesce } from "./coalesce.ts";
import { createPanes, notCreated } from "./create-panes.ts";
import type { PaneSize } from "./grid.ts";
import { leaveEndingSessions } from "./leave-session.ts";
import type { CreatedPane } from "./pane-commands.ts";
import { identityCondition, TAG } from "./pane-tags.ts";
import { type RecordedServer, serverAt } from "./server-for.ts";
import { evenOutStacks, restoreUserLayout, STACK_OPTIONS } from "./stack.ts";
import { releaseWindow } from "./team-window.ts";
import { endZoom, recordZoom, restoreZoom } from "./zoom.ts";

interface TmuxPaneOptions {
  /** The server for new panes; existing panes are found on the server of their record. */
  readonly server: TmuxServer;
  readonly env: Env;
  /** Minimum size of a teammate's pane, in cells; a spawn that would go below it opens another window. */
  readonly minPane?: PaneSize | undefined;
  /** Milliseconds until a teammate must be ready. */
  readonly readyTimeoutMs?: number;
  readonly clock?: Clock;
  /** Returns the driver of another server; for tests that count or replace calls. */
  readonly serverAt?: (server: RecordedServer) => TmuxServer;
}

/** Creates the backend for teammates in tmux panes. A spawn of any size calls tmux three times, most other operations once. */
export function tmuxPaneBackend(options: TmuxPaneOptions): Backend {
  const { server, env, minPane, clock = systemClock } = options;
  const at = options.serverAt ?? ((recorded: RecordedServer) => serverAt(recorded, env));

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
      const { created, stacked, inTeamSession, notHere, problem } = await panes.enqueue(requests, placement);
      const spawnedAt = clock.now();
      return Promise.all(
        requests.map(async (request): Promise<SpawnOutcome> => {
          const pane = created.get(request.instance);
          if (pane === undefined) {
            discardLaunch(request.paths);
            return { ok: false, name: request.name, error: notCreated(request, problem) };
          }
          const beside = stacked.get(request.instance);
          const place = placeOf(
            request,
            pane,
            {
              placement: placement.kind,
              ...(beside && { beside }),
              ...(inTeamSession.has(request.instance) && { inTeamSession: true }),
            },
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
      for (const [recorded, group] of byServer(places)) {
        for (const place of await placesThere(at(recorded), group)) present.add(place.instance);
      }
      return present;
    },

    async capture(place, lines) {
      const identity = identityCondition(place);
      if (identity === undefined || place.server === undefined) return undefined;
      const [rows] = await capturePanes(at(place.server), [identity], lines);
      return rows && lastRows(rows, lines);
    },

    async visibleRows(place) {
      const identity = identityCondition(place);
      if (identity === undefined || place.server === undefined) return undefined;
      const server = at(place.server);
      const screen = await readScreen(server, identity.pane, identity.condition, HISTORY_ROWS);
      return screen && visibleRowsOfScreen(screen);
    },

    async leave(places) {
      for (const [recorded, group] of byServer(places.filter(({ inTeamSession }) => inTeamSession)))
        await leaveEndingSessions(
          at(recorded),
          group.flatMap((place) => identityCondition(place) ?? []),
        );
    },

    async close(places) {
      for (const [recorded, group] of byServer(places)) await closePanes(at(recorded), group);
    },
  };
}

/** @throws TmuxError if a pane stays open */
async function closePanes(server: TmuxServer, places: readonly PlaceRecord[]): Promise<void> {
  const closing = places.flatMap((place) => {
    const identity = identityCondition(place);
    if (identity === undefined) return [];
    const { pane, condition } = identity;
    return [{ place, command: onlyIf(pane, condition, ["kill-pane", "-t", pane]) }];
  });
  if (closing.length === 0) return;
  try {
    const { failure } = await closeTogether(
      server,
      places,
      closing.map(({ command }) => command),
    );
    if (failure === undefined) return;
    if (isNoServer(failure)) throw failure;
    // A waiting hook of the user cut the batch off. Each pane gets a separate call, which closes the pane before the hook runs.
    const left = await panesLeft(server, closing);
    await Promise.all(left.map(({ command }) => attemptBatch(server, [command])));
    if ((await panesLeft(server, left)).length > 0) throw failure;
  } catch (error) {
    // Without the server, or their processes, all these panes are already closed.
    if (!isNoServer(error) && !(isUnreachable(error) && !places.some(livesInLivingServer))) throw error;
  }
}

async function panesLeft<T extends { readonly place: PlaceRecord }>(
  server: TmuxServer,
  closing: readonly T[],
): Promise<readonly T[]> {
  if (closing.length === 0) return [];
  const seen = await listPanes(server, [TAG.agent]);
  return closing.filter(({ place }) => isThere(place, seen));
}

async function closeTogether(
  server: TmuxServer,
  places: readonly PlaceRecord[],
  commands: readonly TmuxCommand[],
): Promise<AttemptedBatch> {
  const stacked = places.filter(({ beside }) => beside !== undefined);
  // Hooks lay out a team window; the user's window of a stack has no hooks.
  const seen = stacked.length > 0 ? await listPanes(server, STACK_OPTIONS) : undefined;
  const closing = new Set(places.flatMap(({ paneId: id }) => id ?? []));
  const after =
    seen === undefined
      ? []
      : [...evenOutStacks(seen, stacked, closing), ...restoreUserLayout(seen, stacked, closing)];
  const windows = windowsOf(places);
  const batch = [
    ...windows.map(({ window }) => recordZoom(window)),
    ...commands,
    ...(after.length === 0 ? [] : windows.map(({ window }) => endZoom(window))),
    ...after,
    ...windows.map(({ window }) => restoreZoom(window)),
    // A window stays if the user has a pane in it.
    ...windows.map(({ window, serverPid }) => releaseWindow(window, serverPid)),
  ];
  return attemptBatch(server, batch, { serverPid: seen?.serverPid });
}

/** Returns the windows in which the panes were created, and the users' windows to which they were moved. */
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
  wanted: Pick<PlaceRecord, "placement" | "beside" | "inTeamSession">,
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

/**
 * Returns the places that exist. A server cannot list its panes if its socket was deleted or taken by another server: a place then exists
 * if its processes are alive.
 */
async function placesThere(
  server: TmuxServer,
  places: readonly PlaceRecord[],
): Promise<readonly PlaceRecord[]> {
  try {
    const seen = await listPanes(server, [TAG.agent]);
    return places.filter((place) =>
      place.server?.pid === seen.serverPid ? isThere(place, seen) : livesInLivingServer(place),
    );
  } catch (error) {
    if (!isUnreachable(error)) throw error;
    return places.filter(livesInLivingServer);
  }
}

function isThere(place: PlaceRecord, seen: PaneList): boolean {
  if (place.server !== undefined && seen.serverPid !== place.server.pid) return false;
  return seen.panes.some(
    (pane) =>
      pane.id === place.paneId &&
      (pane.pid === place.panePid || (pane.dead && pane.pid === 0)) &&
      pane.options[TAG.agent] === place.instance,
  );
}

/** True if the processes of a pane and of its server run, whatever a tmux client reports. */
function livesInLivingServer(place: PlaceRecord): boolean {
  const { server } = place;
  return server !== undefined && livenessOf(server) === "alive" && isLaunchScriptAlive(place);
}

function byServer(
  places: readonly PlaceRecord[],
): Iterable<readonly [RecordedServer, readonly PlaceRecord[]]> {
  const groups = new Map<string, [RecordedServer, PlaceRecord[]]>();
  for (const place of places) {
    const { server } = place;
    if (server === undefined) continue;
    const key = `${server.pid} ${server.socket}`;
    const group = groups.get(key) ?? [server, []];
    group[1].push(place);
    groups.set(key, group);
  }
  return groups.values();
}

/** Returns the last rows, without blank rows at the end. */
function lastRows(rows: readonly string[], count: number): readonly string[] {
  const end = rows.findLastIndex((row) => row.trim() !== "") + 1;
  return rows.slice(Math.max(0, end - count), end);
}
