import { TeamError } from "../errors.ts";
import { steadyNow } from "../os/clock.ts";
import { readText } from "../os/files/fs.ts";
import type { AgentPaths } from "../protocol/paths.ts";
import { type Form, parseShape } from "../schema/guards/guard.ts";
import { exitForm, statusForm } from "../schema/guards/records.ts";
import type { ExitRecord } from "../schema/status.ts";
import { anyBell, type Bell } from "../wakeup/bell.ts";
import { openFifoBell } from "../wakeup/fifo-bell.ts";

interface ReadinessOptions {
  /** The awaited start; files of an earlier start are ignored. */
  readonly instance: string;
  /** The agent's name, for the message. */
  readonly name: string;
  /** Milliseconds. */
  readonly timeoutMs: number;
  /** Returns whether the launch script still runs; if it is killed too, no bell rings. */
  readonly isAlive?: () => boolean;
  /** An additional bell besides the FIFO; the caller closes it. */
  readonly extraBell?: Bell;
  readonly signal?: AbortSignal;
  /** Milliseconds of a steady clock. */
  readonly now?: () => number;
}

/** Milliseconds between two checks for a lost ring or a killed launch script, only while a start is awaited. */
const POLL_MS = 500;
/** Maximum milliseconds that one wait counts: if it took longer, the machine slept or was busy, so the agent had no time either. */
const MAX_WAIT_MS = 2 * POLL_MS;

/**
 * Waits until the agent is ready.
 * @throws TeamError SPAWN_FAILED if its program ends first (with exit code and last lines) or is not ready in time; INTERRUPTED if
 * the signal aborts
 */
export async function awaitReady(paths: AgentPaths, options: ReadinessOptions): Promise<void> {
  const bell = openFifoBell(paths.ready);
  const now = options.now ?? steadyNow;
  let left = options.timeoutMs;
  try {
    for (;;) {
      // Check this before the files: if the script ends in between, its exit record is already written.
      const alive = options.isAlive?.() ?? true;
      if (isReady(paths, options.instance)) return;
      const exit = exitOf(paths, options.instance);
      if (exit !== undefined) throw endedEarly(options.name, exit);
      if (!alive) throw killedEarly(options.name);
      if (left <= 0) throw notReadyInTime(options);
      const since = now();
      const woken = await anyBell([
        bell,
        ...(options.extraBell === undefined ? [] : [options.extraBell]),
      ]).wait({
        timeoutMs: Math.min(left, POLL_MS),
        ...(options.signal === undefined ? {} : { signal: options.signal }),
      });
      if (woken === "aborted") throw interruptedStart();
      left -= Math.min(now() - since, MAX_WAIT_MS);
    }
  } finally {
    bell.close();
  }
}

/** Creates the error for an aborted start; the caller rolls the start back. Its message continues "… could not be started: ". */
export function interruptedStart(cause?: unknown): TeamError {
  return new TeamError("INTERRUPTED", "it was interrupted before it was ready.", {
    hint: "Nothing was left behind.",
    cause,
  });
}

function isReady(paths: AgentPaths, instance: string): boolean {
  const status = parsed(readText(paths.status), statusForm);
  return status?.instance === instance && status.awaitsProgram !== true;
}

function exitOf(paths: AgentPaths, instance: string): ExitRecord | undefined {
  const record = parsed(readText(paths.exit), exitForm);
  return record?.instance === instance ? record : undefined;
}

function parsed<T>(text: string | undefined, form: Form<T>): T | undefined {
  if (text === undefined) return undefined;
  try {
    const result = parseShape(form, JSON.parse(text));
    return result.success ? result.data : undefined;
  } catch {
    // Not JSON: written by another program, so it is not about this start.
    return undefined;
  }
}

function endedEarly(name: string, exit: ExitRecord): TeamError {
  const lastLines = exit.lastLines.filter((line) => line.trim() !== "").slice(-10);
  const how = exit.signal === undefined ? `with exit code ${exit.code}` : `by ${exit.signal}`;
  return new TeamError(
    "SPAWN_FAILED",
    `${name} ended ${how} before it was ready${lastLines.length > 0 ? `: ${lastLines.join("\n")}` : "."}`,
    {
      hint: hintFor(exit.code),
      details: { exitCode: exit.code, lastLines: exit.lastLines },
    },
  );
}

function hintFor(code: number): string {
  if (code === 127) return "The program was not found. Nothing was left behind; check its path.";
  if (code === 126) return "The program is not executable. Nothing was left behind; check its permissions.";
  return "Nothing was left behind. Fix the error above and spawn it again.";
}

function killedEarly(name: string): TeamError {
  return new TeamError("SPAWN_FAILED", `${name} was killed before it was ready.`, {
    hint: "Nothing was left behind; spawn it again.",
    details: { exitCode: null, lastLines: [] },
  });
}

function notReadyInTime({ name, timeoutMs }: ReadinessOptions): TeamError {
  return new TeamError("SPAWN_FAILED", `${name} was not ready within ${timeoutMs / 1000} s.`, {
    hint: "The agent was ended and nothing was left behind. On a busy machine, spawn fewer agents at a time.",
    details: { exitCode: null, lastLines: [], timedOut: true },
  });
}
