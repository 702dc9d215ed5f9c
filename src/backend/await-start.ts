import { TeamError } from "../errors.ts";
import { awaitReady } from "../launch/await-ready.ts";
import { discardLaunch } from "../launch/prepare.ts";
import { livenessOf } from "../os/process/identity.ts";
import { endTree, INSTANCE_VARIABLE } from "../os/process/process-tree.ts";
import type { PlaceRecord } from "../schema/status.ts";
import type { Bell } from "../wakeup/bell.ts";
import type { SpawnOutcome, SpawnRequest } from "./backend.ts";

/** A cold start on a busy machine takes seconds, a hanging one for ever. */
export const READY_TIMEOUT_MS = 30_000;

/** What ends before it is ready is gone already but for what it left in the background. */
const LEFTOVER_GRACE_MS = 500;

/** Marks what is about to start, so that everything it starts in turn is found by its environment. */
export function withInstanceMarker(requests: readonly SpawnRequest[]): readonly SpawnRequest[] {
  return requests.map((request) => ({
    ...request,
    env: { ...request.env, [INSTANCE_VARIABLE]: request.instance },
  }));
}

/**
 * The last part of every start: says where it was put, and waits for the agent's own word; where that does not come, or cannot be
 * waited for, ends what was started and takes away everything that was made for it.
 */
export async function awaitStart(
  request: SpawnRequest,
  place: PlaceRecord,
  how: {
    readonly timeoutMs: number | undefined;
    /** Rings besides the FIFO when the agent announces itself. */
    readonly also?: Bell;
    readonly close: () => Promise<void>;
  },
): Promise<SpawnOutcome> {
  const script = { pid: place.panePid ?? 0, procStart: place.paneProcStart ?? "" };
  try {
    request.onPlaced?.(place);
    await awaitReady(request.paths, {
      instance: request.instance,
      name: request.name,
      timeoutMs: how.timeoutMs ?? READY_TIMEOUT_MS,
      ...(how.also === undefined ? {} : { extraBell: how.also }),
      isAlive: () => livenessOf(script) !== "dead",
      ...(request.signal === undefined ? {} : { signal: request.signal }),
    });
    return { ok: true, name: request.name, place };
  } catch (cause) {
    await how.close();
    await endTree({ root: script, marker: request.instance }, { graceMs: LEFTOVER_GRACE_MS });
    discardLaunch(request.paths);
    const error =
      cause instanceof Error
        ? cause
        : new TeamError("SPAWN_FAILED", `${request.name} did not start.`, { cause });
    return { ok: false, name: request.name, error };
  }
}
