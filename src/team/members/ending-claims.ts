import { messageOf } from "../../errors.ts";
import { systemClock } from "../../os/clock.ts";
import { livenessOf, ownIdentity } from "../../os/process/identity.ts";
import type { TeamConfig } from "../../schema/config.ts";
import type { Ending, EndingKind } from "../../schema/ending.ts";
import type { EventSubject } from "../../schema/event.ts";
import { readMetadata, withMetadata } from "../../schema/member-metadata.ts";
import type { StatusRecord } from "../../schema/status.ts";
import { recordEvent } from "../../telemetry/event-log.ts";
import { readTeam, updateTeam } from "../config/config.ts";
import type { TeamRef } from "../ref.ts";
import { eventSubject } from "./members.ts";

/** A claim expires after this many milliseconds: processing an ending takes a few seconds, and doing it twice is harmless. */
const CLAIM_TTL_MS = 30_000;
/** Milliseconds before this process retries an ending that failed; doubled after each attempt, up to the maximum. */
const RETRY_MS = 250;
const MAX_RETRY_MS = 30_000;

/** Identifies the end of an agent's process. An agent that is restarted in its pane keeps its instance but has a new process. */
export function endingId({ instance = "", process }: Pick<StatusRecord, "instance" | "process">): string {
  return `ended/${instance}/${process.pid}.${process.procStart}`;
}

/** The endings that any context of this process is working on. */
const inProgress = new Set<string>();

/** An ending before it is claimed. */
export type NewEnding = Omit<Ending, "by" | "at" | "tries">;

/** Returns the endings that were claimed but not finished; records that do not parse are ignored. */
export function unfinishedEndings(config: TeamConfig): Ending[] {
  return readMetadata(config, "endings") ?? [];
}

/** True if the claim is stale: its holder is dead or exceeded the time limit, or failed in this process and may retry. */
function isAbandoned(ref: TeamRef, { id, by, at, tries }: Ending): boolean {
  if (inProgress.has(keyOf(ref, id))) return false;
  const own = ownIdentity();
  const age = Math.abs(systemClock.now() - at);
  // Each attempt changes the config, which wakes the supervisor: without the pause it would retry at once.
  if (by.pid === own.pid && by.procStart === own.procStart)
    return age >= Math.min(RETRY_MS * 2 ** (tries - 1), MAX_RETRY_MS);
  return livenessOf(by) === "dead" || age > CLAIM_TTL_MS;
}

/**
 * Claims an ending under the config's lock, with a record that survives this process.
 * @param change changes the config in the same write; returns undefined if there is no such ending (any more)
 * @returns the ending, for {@link finishEnding}; undefined if another process holds or has finished it
 */
export async function claimEnding(
  ref: TeamRef,
  found: NewEnding,
  change: (config: TeamConfig) => TeamConfig | undefined,
): Promise<Ending | undefined> {
  let subject: EventSubject = {};
  const taken = await record(ref, (config) => {
    if (unfinishedEndings(config).some(({ id }) => id === found.id)) return undefined;
    subject = eventSubject(ref, config, found.name);
    const next = change(config);
    return next && { config: next, taken: { ...found, ...claim(), tries: 1 } };
  });
  if (taken !== undefined) recordEvent(ref, { type: "member", what: "ended", ...subject, how: found.how });
  return taken;
}

/** Claims an ending whose claim is stale. @returns undefined if another process holds or has finished it */
export function reclaimEnding(ref: TeamRef, { id }: Pick<Ending, "id">): Promise<Ending | undefined> {
  return record(ref, (config) => {
    const ending = unfinishedEndings(config).find((one) => one.id === id);
    if (ending === undefined || !isAbandoned(ref, ending)) return undefined;
    return { config, taken: { ...ending, ...claim(), tries: ending.tries + 1 } };
  });
}

interface Step {
  readonly config: TeamConfig;
  readonly taken: Ending;
}

async function record(
  ref: TeamRef,
  step: (config: TeamConfig) => Step | undefined,
): Promise<Ending | undefined> {
  let taken: Ending | undefined;
  const forget = (): void => {
    if (taken !== undefined) inProgress.delete(keyOf(ref, taken.id));
    taken = undefined;
  };
  try {
    await updateTeam(ref, (config) => {
      forget();
      const next = step(config);
      if (next === undefined) return undefined;
      taken = next.taken;
      // Before the record is visible: it names this process as the holder.
      inProgress.add(keyOf(ref, taken.id));
      return withEndings(next.config, [
        ...unfinishedEndings(next.config).filter(({ id }) => id !== next.taken.id),
        next.taken,
      ]);
    });
    return taken;
  } catch (error) {
    forget();
    throw error;
  }
}

/** The endings after which a member stays in the team, and may run again. */
const STAYING_KINDS: ReadonlySet<EndingKind> = new Set(["crashed", "exited"]);

/**
 * Records that a member runs again, or is about to: from now on, its unfinished endings unassign none of its tasks. Idempotent.
 * @returns the ids of the tasks that it owned when it ended
 */
export async function markRestarted(ref: TeamRef, name: string): Promise<readonly string[]> {
  let tasks: readonly string[] = [];
  await updateTeam(ref, (config) => {
    const member = config.members.find((one) => one.name === name);
    tasks = (member && readMetadata(member, "tasksToRestore")) ?? [];
    const isItsEnd = (one: Ending): boolean => one.name === name && STAYING_KINDS.has(one.how);
    const endings = unfinishedEndings(config);
    if (!endings.some(isItsEnd)) return undefined;
    return withEndings(
      config,
      endings.map((one) => (isItsEnd(one) ? { ...one, how: "restarted", tasks: [] } : one)),
    );
  });
  return tasks;
}

/** Whether the ending is unfinished, and its member neither runs again nor has a successor with its name. */
export function isStillEnded(ref: TeamRef, { id, name, how }: Ending): boolean {
  const config = readTeam(ref);
  const isOpen = unfinishedEndings(config).some((one) => one.id === id && one.how === how);
  return isOpen && (STAYING_KINDS.has(how) || !config.members.some((one) => one.name === name));
}

/**
 * Processes a claimed ending and removes its record. If `work` fails, the record stays and names the problem, and later polls
 * repeat the work until it succeeds.
 * @param change marks the ending as done in the config
 */
export async function finishEnding(
  ref: TeamRef,
  taken: Ending,
  work: () => Promise<void>,
  change: (config: TeamConfig) => TeamConfig,
): Promise<void> {
  try {
    await work();
    await updateTeam(ref, (config) => change(without(config, taken.id)));
  } catch (error) {
    await recordProblem(ref, taken, messageOf(error));
    throw error;
  } finally {
    inProgress.delete(keyOf(ref, taken.id));
  }
}

/** Records for `teams status` why an attempt failed. */
async function recordProblem(ref: TeamRef, { id, problem: before }: Ending, problem: string): Promise<void> {
  if (problem === before) return;
  try {
    await updateTeam(ref, (config) => {
      const endings = unfinishedEndings(config);
      if (!endings.some((one) => one.id === id)) return undefined;
      return withEndings(
        config,
        endings.map((one) => (one.id === id ? { ...one, problem } : one)),
      );
    });
  } catch {
    // The caller throws the problem itself. Its cause, such as a full disk, often prevents this write too.
  }
}

function claim(): Pick<Ending, "by" | "at"> {
  return { by: ownIdentity(), at: systemClock.now() };
}

function without(config: TeamConfig, ended: string): TeamConfig {
  return withEndings(
    config,
    unfinishedEndings(config).filter(({ id }) => id !== ended),
  );
}

function withEndings(config: TeamConfig, endings: readonly Ending[]): TeamConfig {
  return withMetadata(config, { endings: endings.length === 0 ? undefined : [...endings] });
}

function keyOf(ref: TeamRef, id: string): string {
  return `${ref.paths.config} ${id}`;
}
