import { TeamError } from "../errors.ts";
import { launchArgv } from "../launch/launch-script.ts";
import { discardLaunch, prepareLaunches } from "../launch/prepare.ts";
import { type Clock, systemClock } from "../os/clock.ts";
import { removeFile } from "../os/files/fs.ts";
import { startTimeOf } from "../os/process/identity.ts";
import { spawnDetached } from "../os/process/spawn.ts";
import type { PlaceRecord } from "../schema/status.ts";
import { isLaunchScriptAlive } from "../team/members/judge-liveness.ts";
import { alsoRing } from "../wakeup/fifo-bell.ts";
import { type SocketBell, socketBell } from "../wakeup/socket-bell.ts";
import { awaitStart, noLogFile, withInstanceMarker } from "./await-start.ts";
import type { Backend, SpawnOutcome, SpawnRequest } from "./backend.ts";
import { logTail, visibleRowsOfLog } from "./visible-rows.ts";

export interface ProcessBackendOptions {
  /** Milliseconds until a teammate must be ready. */
  readonly readyTimeoutMs?: number;
  readonly clock?: Clock;
  /**
   * Called when a child of this process rings through its socket pair (descriptor 3). The child also rings the FIFO.
   * @param instance identifies the start of that child
   */
  readonly onChildBell?: (instance: string) => void;
}

interface ProcessBackend extends Backend {
  /** Rings a child of this process; false if this process has no child of that instance. */
  ringChild(instance: string): boolean;
  /** Closes the socket pairs; the children keep running. */
  release(): void;
}

/** The parent's end of a child's socket pair. */
interface Channel {
  readonly bell: SocketBell;
  /** Unlinks the bell from the child's FIFO. */
  unlink(): void;
}

/** The variable with the descriptor of the child's end of the socket pair. */
const BELL_FD_VARIABLE = "TEAMS_BELL_FD";
const BELL_FD = 3;

/** Creates the backend for teammates without a pane: each is a child in its own session, with its output in a log file. */
export function processBackend(options: ProcessBackendOptions = {}): ProcessBackend {
  const { clock = systemClock } = options;
  const channels = new Map<string, Channel>();

  const relayRings = async (instance: string, bell: SocketBell): Promise<void> => {
    while ((await bell.wait()) === "rung") options.onChildBell?.(instance);
    dropChannel(instance);
  };

  const dropChannel = (instance: string): void => {
    const channel = channels.get(instance);
    channels.delete(instance);
    channel?.unlink();
    channel?.bell.close();
  };

  const start = async (request: SpawnRequest): Promise<SpawnOutcome> => {
    const [file = "/bin/sh", ...args] = launchArgv(request.paths, request.instance, request.argv);
    const env = { ...request.env, [BELL_FD_VARIABLE]: String(BELL_FD) };
    const { log: logFile } = request.paths;
    let started: Awaited<ReturnType<typeof spawnDetached>>;
    try {
      removeFile(logFile);
      started = await spawnDetached(file, args, { cwd: "/", env, logFile });
    } catch (cause) {
      discardLaunch(request.paths);
      throw cause instanceof TeamError ? cause : noLogFile(request, cause);
    }
    const { pid, channel } = started;
    const place: PlaceRecord = {
      instance: request.instance,
      backend: "process",
      panePid: pid,
      paneProcStart: startTimeOf(pid) ?? "",
      logFile,
      spawnedAt: clock.now(),
    };
    const bell = socketBell(channel);
    // Each ring of the child's FIFO by this process also rings the socket pair.
    channels.set(request.instance, { bell, unlink: alsoRing(request.paths.bell, () => bell.ring()) });
    void relayRings(request.instance, bell);
    return awaitStart(request, place, {
      timeoutMs: options.readyTimeoutMs,
      extraBell: bell,
      close: async () => dropChannel(request.instance),
    });
  };

  return {
    type: "process",
    async spawn(wanted) {
      const requests = withInstanceMarker(wanted);
      await prepareLaunches(
        requests.map((request) => ({
          agentId: request.agentId,
          cwd: request.cwd,
          paths: request.paths,
          keptVariables: [...Object.keys(request.env), BELL_FD_VARIABLE],
          bells: request.bells,
          surface: "log",
        })),
      );
      return Promise.all(
        requests.map((request) =>
          start(request).catch((error: Error): SpawnOutcome => ({ ok: false, name: request.name, error })),
        ),
      );
    },
    async present(places) {
      return new Set(places.filter(isLaunchScriptAlive).map((place) => place.instance));
    },
    async capture(place, lines) {
      return place.logFile === undefined ? undefined : logTail(place.logFile, lines);
    },
    async visibleRows(place) {
      return place.logFile === undefined ? undefined : visibleRowsOfLog(place.logFile);
    },
    async close(places) {
      for (const place of places) {
        dropChannel(place.instance);
        if (place.logFile !== undefined) removeFile(place.logFile);
      }
    },
    ringChild(instance) {
      const channel = channels.get(instance);
      channel?.bell.ring();
      return channel !== undefined;
    },
    release() {
      for (const instance of [...channels.keys()]) dropChannel(instance);
    },
  };
}
