import { TeamError } from "../errors.ts";
import { steadyNow } from "../os/clock.ts";
import { readText } from "../os/files/fs.ts";
import type { AgentPaths } from "../protocol/paths.ts";
import { type ExitRecord, exitRecord, statusRecord } from "../schema/status.ts";
import { type Bell, anyBell } from "../wakeup/bell.ts";
import { openFifoBell } from "../wakeup/fifo-bell.ts";

interface ReadinessOptions {
  /** Which start is awaited: files of an earlier one say nothing. */
  readonly instance: string;
  /** The agent's name, for the message. */
  readonly name: string;
  /** Milliseconds. */
  readonly timeoutMs: number;
  /** Whether the launch script still runs; what kills even that rings no bell. */
  readonly isAlive?: () => boolean;
  /** A bell besides the FIFO; it stays open. */
  readonly extraBell?: Bell;
  readonly signal?: AbortSignal;
}

/** A lost ring or a killed launch script is noticed this often, and only while somebody waits for a start. */
const POLL_MS = 500;

/**
 * Waits until the agent has announced itself.
 * @throws TeamError SPAWN_FAILED: with exit code and last lines when its program ended first, or when it said nothing in
 * time; INTERRUPTED by the signal
 */
export async function awaitReady(paths: AgentPaths, options: ReadinessOptions): Promise<"ready"> {
  const bell = openFifoBell(paths.ready);
  const deadline = steadyNow() + options.timeoutMs;
  try {
    for (;;) {
      // Before the files are read: a script that died between the two looks has written its record by then.
      const alive = options.isAlive?.() ?? true;
      if (readyInstance(paths) === options.instance) return "ready";
      const exit = exitOf(paths, options.instance);
      if (exit !== undefined) throw endedEarly(options.name, exit);
      if (!alive) throw killedEarly(options.name);
      const left = deadline - steadyNow();
      if (left <= 0) throw notReadyInTime(options);
      const answer = await anyBell([
        bell,
        ...(options.extraBell === undefined ? [] : [options.extraBell]),
      ]).wait({
        timeoutMs: Math.min(left, POLL_MS),
        ...(options.signal === undefined ? {} : { signal: options.signal }),
      });
      if (answer === "aborted") throw interruptedStart();
    }
  } finally {
    bell.close();
  }
}

/** Of a start that is given up, and taken back by whoever has begun it. */
export function interruptedStart(cause?: unknown): TeamError {
  return new TeamError("INTERRUPTED", "it was interrupted before it was ready. Nothing of it is left.", {
    cause,
  });
}

function readyInstance(paths: AgentPaths): string | undefined {
  return parsed(readText(paths.status), statusRecord)?.instance;
}

function exitOf(paths: AgentPaths, instance: string): ExitRecord | undefined {
  const record = parsed(readText(paths.exit), exitRecord);
  return record?.instance === instance ? record : undefined;
}

function parsed<T>(
  text: string | undefined,
  schema: { safeParse(value: unknown): { success: true; data: T } | { success: false } },
): T | undefined {
  if (text === undefined) return undefined;
  try {
    const result = schema.safeParse(JSON.parse(text));
    return result.success ? result.data : undefined;
  } catch {
    // Not of ours, or of another version: it says nothing about this start.
    return undefined;
  }
}

function endedEarly(name: string, exit: ExitRecord): TeamError {
  const said = exit.lastLines.filter((line) => line.trim() !== "").slice(-10);
  const how = exit.signal === undefined ? `with exit code ${exit.code}` : `by ${exit.signal}`;
  return new TeamError(
    "SPAWN_FAILED",
    `${name} ended ${how} before it was ready${said.length > 0 ? `: ${said.join("\n")}` : "."}`,
    {
      hint: hintFor(exit.code),
      details: { exitCode: exit.code, lastLines: exit.lastLines },
    },
  );
}

function hintFor(code: number): string {
  if (code === 127) return "The program was not found; nothing is left behind. Check its path.";
  if (code === 126) return "The program is not executable; nothing is left behind. Check its permissions.";
  return "Nothing is left behind. Fix what the lines above say and spawn it again.";
}

function killedEarly(name: string): TeamError {
  return new TeamError("SPAWN_FAILED", `${name} was killed before it was ready.`, {
    hint: "Nothing is left behind; spawn it again.",
    details: { exitCode: null, lastLines: [] },
  });
}

function notReadyInTime({ name, timeoutMs }: ReadinessOptions): TeamError {
  return new TeamError("SPAWN_FAILED", `${name} did not announce itself within ${timeoutMs / 1000} s.`, {
    hint: "It was ended and nothing is left behind. On a busy machine, spawn fewer at a time.",
    details: { exitCode: null, lastLines: [], timedOut: true },
  });
}
