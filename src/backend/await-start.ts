import { messageOf, TeamError } from "../errors.ts";
import { awaitReady } from "../launch/await-ready.ts";
import { discardLaunch } from "../launch/prepare.ts";
import { livenessOf } from "../os/process/identity.ts";
import { endTree, INSTANCE_VARIABLE } from "../os/process/process-tree.ts";
import type { PlaceRecord } from "../schema/status.ts";
import type { Bell } from "../wakeup/bell.ts";
import type { SpawnOutcome, SpawnRequest } from "./backend.ts";

/** Milliseconds. A cold start can take seconds on a busy machine; a start that takes longer than this hangs. */
export const READY_TIMEOUT_MS = 30_000;
/** The same for a start with a third-party program, which may draw for 20 s before it takes a message. */
const PROGRAM_TIMEOUT_MS = 60_000;

/** Milliseconds between SIGTERM and SIGKILL for the processes of a failed start. */
export const LEFTOVER_GRACE_MS = 500;

/** Adds the instance to each environment, by which all descendants of the agent can be found. */
export function withInstanceMarker(requests: readonly SpawnRequest[]): readonly SpawnRequest[] {
  return requests.map((request) => ({
    ...request,
    env: { ...request.env, [INSTANCE_VARIABLE]: request.instance },
  }));
}

/** Returns the error of a start whose output log cannot be created; the starts of other agents continue. */
export function noLogFile({ name, paths }: SpawnRequest, cause: unknown): TeamError {
  const text = `${name} was not started: its output log cannot be created (${messageOf(cause)}).`;
  return new TeamError("SPAWN_FAILED", text, {
    hint: `Make sure that ${paths.log} is not a directory and the disk is not full, then spawn it again.`,
    cause,
  });
}

/**
 * Completes a start: reports the place and waits until the agent announces readiness. If that fails, it closes the place, ends the
 * agent's processes and removes the launch files. Never rejects, since other starts of the same call may succeed: an error of the start
 * or of its clean-up is part of the outcome.
 */
export async function awaitStart(
  request: SpawnRequest,
  place: PlaceRecord,
  options: {
    /** Milliseconds; {@link READY_TIMEOUT_MS} by default. */
    readonly timeoutMs: number | undefined;
    /** A second bell, besides the FIFO, that rings when the agent announces readiness. */
    readonly extraBell?: Bell;
    /** Removes the place after a failed start. */
    readonly close: () => Promise<void>;
  },
): Promise<SpawnOutcome> {
  const script = { pid: place.panePid ?? 0, procStart: place.paneProcStart ?? "" };
  try {
    request.onPlaced?.(place);
    await awaitReady(request.paths, {
      instance: request.instance,
      name: request.name,
      timeoutMs: options.timeoutMs ?? (request.awaitsProgram ? PROGRAM_TIMEOUT_MS : READY_TIMEOUT_MS),
      ...(options.extraBell === undefined ? {} : { extraBell: options.extraBell }),
      isAlive: () => livenessOf(script) !== "dead",
      ...(request.signal === undefined ? {} : { signal: request.signal }),
    });
    return { ok: true, name: request.name, place };
  } catch (cause) {
    const tree = { root: script, marker: request.instance };
    const endAll = async (): Promise<void> => {
      const { left } = await endTree(tree, { graceMs: LEFTOVER_GRACE_MS });
      if (left.length > 0) throw new Error(`its processes ${left.join(", ")} are still running`);
    };
    const problems = await tryAll([options.close, endAll, () => discardLaunch(request.paths)]);
    const error =
      cause instanceof Error
        ? cause
        : new TeamError("SPAWN_FAILED", `${request.name} did not start.`, { cause });
    return { ok: false, name: request.name, error: problems.length > 0 ? withRest(error, problems) : error };
  }
}

/** Takes each step, even if another one fails. @returns why steps failed */
async function tryAll(steps: readonly (() => unknown)[]): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const step of steps) {
    try {
      await step();
    } catch (error) {
      problems.push(messageOf(error));
    }
  }
  return problems;
}

/** Adds to the error of a failed start that something is left of it. */
function withRest(error: Error, problems: readonly string[]): TeamError {
  const { code, details } =
    error instanceof TeamError ? error : new TeamError("SPAWN_FAILED", error.message, { cause: error });
  const why = problems.join("; ").replace(/\.$/, "");
  return new TeamError(code, `${error.message}\nThe start was not fully cleaned up: ${why}.`, {
    hint: "Close what is left of it, then spawn it again.",
    ...(details === undefined ? {} : { details }),
    cause: error,
  });
}
