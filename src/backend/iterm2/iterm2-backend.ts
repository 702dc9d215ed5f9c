import { TeamError } from "../../errors.ts";
import type { LaunchScriptInput } from "../../launch/launch-script.ts";
import { discardLaunch, prepareLaunches } from "../../launch/prepare.ts";
import { type Clock, systemClock } from "../../os/clock.ts";
import type { Env } from "../../os/env.ts";
import { livenessOf, startTimeOf } from "../../os/process/identity.ts";
import { endTree } from "../../os/process/process-tree.ts";
import type { PlaceRecord } from "../../schema/status.ts";
import { launchScriptOf } from "../../team/members/judge-liveness.ts";
import { awaitStart, withInstanceMarker } from "../await-start.ts";
import type { Backend, SpawnOutcome, SpawnRequest } from "../backend.ts";
import { rowsFrom } from "../visible-rows.ts";
import { type HandoverProcess, prepareHandover, SESSION_VARIABLES } from "./handover.ts";
import { type It2, it2Driver } from "./it2-cli.ts";

interface Iterm2Options {
  readonly env: Env;
  /** Milliseconds within which a teammate has to announce itself. */
  readonly readyTimeoutMs?: number;
  readonly clock?: Clock;
  readonly it2?: It2;
}

/** What a launch that never said a word may have begun ends at once. */
const GRACE_MS = 500;

/**
 * Teammates in windows of iTerm2, one for each: it2 can hand a command to a new window and to nothing else; into a split
 * it could only be typed, and nothing is typed into a shell to start it. A place is known by its process, not by a
 * window's id, so that who is there is told without asking iTerm2.
 */
export function iterm2Backend(options: Iterm2Options): Backend {
  const { env, clock = systemClock } = options;
  const it2 = options.it2 ?? it2Driver({ env });

  const open = async (request: SpawnRequest): Promise<PlaceRecord> => {
    const handover = await prepareHandover(request);
    try {
      await it2.openWindow(handover.words);
      return placeOf(request, await handover.accepted(), clock.now());
    } finally {
      handover.close();
    }
  };

  const settle = (request: SpawnRequest, place: PlaceRecord): Promise<SpawnOutcome> =>
    awaitStart(request, place, {
      timeoutMs: options.readyTimeoutMs,
      // First the processes: iTerm2 asks the person before it closes what still runs.
      close: async () => {
        const root = { pid: place.panePid ?? 0, procStart: place.paneProcStart ?? "" };
        await endTree({ root, marker: request.instance }, { graceMs: GRACE_MS });
        await closeAll([place]);
      },
    });

  /** A session ends with its program, but where its profile keeps it; that one is closed. */
  const closeAll = async (places: readonly PlaceRecord[]): Promise<void> => {
    const ids = places.flatMap(({ paneId }) => paneId ?? []);
    if (ids.length === 0) return;
    // From elsewhere iTerm2 may be out of reach; what ran there has ended, and an empty window harms nobody.
    await ifReachable(async () => {
      const there = await it2.sessions();
      for (const id of ids) if (there.has(id)) await it2.close(id);
    });
  };

  const read = async (place: PlaceRecord, lines: number): Promise<readonly string[] | undefined> => {
    if (place.paneId === undefined || !isThere(place)) return undefined;
    return it2.read(place.paneId, lines);
  };

  return {
    type: "iterm2",

    async spawn(wanted, placement) {
      if (wanted.length === 0) return [];
      if (placement.kind === "here") throw noSplit();
      const requests = withInstanceMarker(wanted);
      // Who has the keyboard gets it back: a new window takes it. This also says early when iTerm2 cannot be driven.
      const focused = await it2.focused();
      await prepareLaunches(requests.map(scriptOf));
      const outcomes: Promise<SpawnOutcome>[] = [];
      // One after the other, so that the windows are in order; nobody waits for another's agent.
      for (const request of requests) {
        const place = await open(request).catch((error: Error) => error);
        if (!(place instanceof Error)) outcomes.push(settle(request, place));
        else {
          discardLaunch(request.paths);
          outcomes.push(Promise.resolve({ ok: false, name: request.name, error: place }));
        }
      }
      // The agents are worth more than the keyboard.
      if (focused !== undefined) await ifReachable(() => it2.focus(focused));
      return Promise.all(outcomes);
    },

    async present(places) {
      return new Set(places.filter(isThere).map((place) => place.instance));
    },

    capture: read,

    async visibleRows(place) {
      const rows = await read(place, Number.POSITIVE_INFINITY);
      // it2 tells no history: like an alternate screen it is compared with what was there.
      const screen = { surface: "alternate", settled: 0, maxSettled: Number.POSITIVE_INFINITY } as const;
      return rows && { ...screen, rows: rowsFrom(rows, 0) };
    },

    close: closeAll,

    async focus(place) {
      return place.paneId !== undefined && isThere(place) && (await it2.focus(place.paneId));
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

/** For what may be left undone. */
async function ifReachable(act: () => Promise<unknown>): Promise<void> {
  try {
    await act();
  } catch (error) {
    if (!(error instanceof TeamError)) throw error;
  }
}

function isThere(place: PlaceRecord): boolean {
  const script = launchScriptOf(place);
  return script !== undefined && livenessOf(script) === "alive";
}

function noSplit(): TeamError {
  return new TeamError("INVALID_INPUT", "iTerm2 runs a program only in a new window, not beside this pane.", {
    hint: "Nothing was started. Leave --here out; or run in tmux, whose panes can be split.",
  });
}
