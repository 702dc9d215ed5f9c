import { launchArgv } from "../launch/launch-script.ts";
import { prepareLaunches } from "../launch/prepare.ts";
import { type Clock, systemClock } from "../os/clock.ts";
import { removeFile } from "../os/files/fs.ts";
import { livenessOf, startTimeOf } from "../os/process/identity.ts";
import { spawnDetached } from "../os/process/spawn.ts";
import type { PlaceRecord } from "../schema/status.ts";
import { launchScriptOf } from "../team/members/judge-liveness.ts";
import { alsoRing } from "../wakeup/fifo-bell.ts";
import { type SocketBell, socketBell } from "../wakeup/socket-bell.ts";
import { awaitStart, withInstanceMarker } from "./await-start.ts";
import type { Backend, SpawnOutcome, SpawnRequest } from "./backend.ts";
import { logTail, visibleRowsOfLog } from "./visible-rows.ts";

export interface ProcessBackendOptions {
  /** Milliseconds within which a teammate has to announce itself. */
  readonly readyTimeoutMs?: number;
  readonly clock?: Clock;
  /**
   * A child of this process has rung through its descriptor 3; besides its FIFO, and only while this process stays.
   * @param instance the start whose child it is
   */
  readonly onChildBell?: (instance: string) => void;
}

interface ProcessBackend extends Backend {
  /** Rings a child that this very process has started; false when there is none of that instance. */
  ringChild(instance: string): boolean;
  /** Lets go of the children's socketpairs; they live on. */
  release(): void;
}

/** Our end of a child's socket pair. */
interface Channel {
  readonly bell: SocketBell;
  /** It is rung beside the child's FIFO no more. */
  leave(): void;
}

/** Says the child which descriptor its end of the socketpair is. */
const BELL_FD_VARIABLE = "TEAMS_BELL_FD";
const BELL_FD = 3;

/** Teammates without a pane: each a child in a session of its own, its output in a log file. */
export function processBackend(options: ProcessBackendOptions = {}): ProcessBackend {
  const { clock = systemClock } = options;
  const channels = new Map<string, Channel>();

  const listen = async (instance: string, bell: SocketBell): Promise<void> => {
    while ((await bell.wait()) === "rung") options.onChildBell?.(instance);
    letGo(instance);
  };

  const letGo = (instance: string): void => {
    const channel = channels.get(instance);
    channels.delete(instance);
    channel?.leave();
    channel?.bell.close();
  };

  const start = async (request: SpawnRequest): Promise<SpawnOutcome> => {
    const [file = "/bin/sh", ...args] = launchArgv(request.paths, request.instance, request.argv);
    const env = { ...request.env, [BELL_FD_VARIABLE]: String(BELL_FD) };
    const { pid, channel } = await spawnDetached(file, args, { cwd: "/", env, logFile: request.paths.log });
    const place: PlaceRecord = {
      instance: request.instance,
      backend: "process",
      panePid: pid,
      paneProcStart: startTimeOf(pid) ?? "",
      logFile: request.paths.log,
      spawnedAt: clock.now(),
    };
    const bell = socketBell(channel);
    // Whoever in this process rings the child's FIFO rings its socket pair too.
    channels.set(request.instance, { bell, leave: alsoRing(request.paths.bell, () => bell.ring()) });
    void listen(request.instance, bell);
    const outcome = await awaitStart(request, place, {
      timeoutMs: options.readyTimeoutMs,
      also: bell,
      close: async () => letGo(request.instance),
    });
    return outcome;
  };

  return {
    type: "process",
    async spawn(wanted) {
      const requests = withInstanceMarker(wanted);
      for (const { paths } of requests) removeFile(paths.log);
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
      return new Set(places.filter(isThere).map((place) => place.instance));
    },
    async capture(place, lines) {
      return place.logFile === undefined ? undefined : logTail(place.logFile, lines);
    },
    async visibleRows(place) {
      return place.logFile === undefined ? undefined : visibleRowsOfLog(place.logFile);
    },
    async close(places) {
      for (const place of places) {
        letGo(place.instance);
        if (place.logFile !== undefined) removeFile(place.logFile);
      }
    },
    ringChild(instance) {
      const channel = channels.get(instance);
      channel?.bell.ring();
      return channel !== undefined;
    },
    release() {
      for (const instance of [...channels.keys()]) letGo(instance);
    },
  };
}

function isThere(place: PlaceRecord): boolean {
  const script = launchScriptOf(place);
  return script !== undefined && livenessOf(script) === "alive";
}
