import { TeamError } from "../../errors.ts";
import type { LaunchScriptInput } from "../../launch/launch-script.ts";
import { discardLaunch, prepareLaunches } from "../../launch/prepare.ts";
import { type Clock, systemClock } from "../../os/clock.ts";
import type { Env } from "../../os/env.ts";
import { startTimeOf } from "../../os/process/identity.ts";
import { endTree } from "../../os/process/process-tree.ts";
import type { PlaceRecord } from "../../schema/status.ts";
import { isLaunchScriptAlive } from "../../team/members/judge-liveness.ts";
import { awaitStart, LEFTOVER_GRACE_MS, withInstanceMarker } from "../await-start.ts";
import type { Backend, SpawnOutcome, SpawnRequest } from "../backend.ts";
import { rowsFrom } from "../visible-rows.ts";
import { type HandoverProcess, prepareHandover, SESSION_VARIABLES } from "./handover.ts";
import { type It2, it2Driver } from "./it2-cli.ts";

interface Iterm2Options {
  readonly env: Env;
  /** Milliseconds until a teammate must be ready. */
  readonly readyTimeoutMs?: number;
  readonly clock?: Clock;
  readonly it2?: It2;
}

/**
 * Creates the backend for teammates in iTerm2 windows, one for each teammate. it2 can run a command only in a new window: in a split it
 * would have to type the command into a shell, which teams never does. A place is identified by its process, not by a window id, so
 * `present` needs no call of iTerm2.
 */
export function iterm2Backend(options: Iterm2Options): Backend {
  const { env, clock = systemClock } = options;
  const it2 = options.it2 ?? it2Driver({ env });

  const open = async (request: SpawnRequest): Promise<PlaceRecord> => {
    const handover = await prepareHandover(request);
    try {
      await it2.openWindow(handover.command);
      return placeOf(request, await handover.accepted(), clock.now());
    } finally {
      handover.close();
    }
  };

  const settle = (request: SpawnRequest, place: PlaceRecord): Promise<SpawnOutcome> =>
    awaitStart(request, place, {
      timeoutMs: options.readyTimeoutMs,
      // End the processes first: iTerm2 asks the user before it closes a running session.
      close: async () => {
        const root = { pid: place.panePid ?? 0, procStart: place.paneProcStart ?? "" };
        await endTree({ root, marker: request.instance }, { graceMs: LEFTOVER_GRACE_MS });
        await closeAll([place]);
      },
    });

  /** Closes remaining sessions: some profiles keep a session after its program has ended. */
  const closeAll = async (places: readonly PlaceRecord[]): Promise<void> => {
    const ids = places.flatMap(({ paneId }) => paneId ?? []);
    if (ids.length === 0) return;
    // iTerm2 may be unreachable from here. The programs have ended, and an empty window does no harm.
    await ifReachable(async () => {
      const sessions = await it2.sessions();
      for (const id of ids) if (sessions.has(id)) await it2.close(id);
    });
  };

  const read = async (place: PlaceRecord, lines: number): Promise<readonly string[] | undefined> => {
    if (place.paneId === undefined || !isLaunchScriptAlive(place)) return undefined;
    return it2.read(place.paneId, lines);
  };

  return {
    type: "iterm2",

    async spawn(wanted, placement) {
      if (wanted.length === 0) return [];
      if (placement.kind === "here") throw noSplit();
      const requests = withInstanceMarker(wanted);
      // A new window takes the keyboard focus, which is restored below. This call also fails early if iTerm2 is not reachable.
      const focused = await it2.focused();
      await prepareLaunches(requests.map(scriptOf));
      const outcomes: Promise<SpawnOutcome>[] = [];
      // Open the windows one by one to keep their order, but do not wait for the agents in between.
      for (const request of requests) {
        const place = await open(request).catch((error: Error) => error);
        if (!(place instanceof Error)) outcomes.push(settle(request, place));
        else {
          discardLaunch(request.paths);
          outcomes.push(Promise.resolve({ ok: false, name: request.name, error: place }));
        }
      }
      // If the focus cannot be restored, the start still succeeds.
      if (focused !== undefined) await ifReachable(() => it2.focus(focused));
      return Promise.all(outcomes);
    },

    async present(places) {
      return new Set(places.filter(isLaunchScriptAlive).map((place) => place.instance));
    },

    capture: read,

    async visibleRows(place) {
      const rows = await read(place, Number.POSITIVE_INFINITY);
      // it2 does not return the history, so compare the rows as those of an alternate screen.
      const screen = { surface: "alternate", settled: 0, maxSettled: Number.POSITIVE_INFINITY } as const;
      return rows && { ...screen, rows: rowsFrom(rows, 0) };
    },

    close: closeAll,

    async focus(place) {
      return place.paneId !== undefined && isLaunchScriptAlive(place) && (await it2.focus(place.paneId));
    },
  };
}

function placeOf(request: SpawnRequest, { pid, session }: HandoverProcess, spawnedAt: number): PlaceRecord {
  return {
    instance: request.instance,
    backend: "iterm2",
    ...(session === undefined ? {} : { paneId: session }),
    placement: "window",
    panePid: pid,
    paneProcStart: startTimeOf(pid) ?? "",
    spawnedAt,
  };
}

function scriptOf(request: SpawnRequest): LaunchScriptInput {
  return {
    agentId: request.agentId,
    cwd: request.cwd,
    paths: request.paths,
    keptVariables: [...Object.keys(request.env), ...SESSION_VARIABLES],
    bells: request.bells,
    surface: "pane",
  };
}

/** Runs an optional step: a TeamError means that iTerm2 is not reachable, and is ignored. */
async function ifReachable(act: () => Promise<unknown>): Promise<void> {
  try {
    await act();
  } catch (error) {
    if (!(error instanceof TeamError)) throw error;
  }
}

function noSplit(): TeamError {
  return new TeamError(
    "INVALID_INPUT",
    "iTerm2 can run a program only in a new window, not next to this pane; nothing was started.",
    {
      hint: "Omit --here, or run the command in tmux.",
    },
  );
}
