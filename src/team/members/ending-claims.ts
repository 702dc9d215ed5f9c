import { systemClock } from "../../os/clock.ts";
import { livenessOf, ownIdentity } from "../../os/process/identity.ts";
import type { TeamConfig } from "../../schema/config.ts";
import type { Ending } from "../../schema/ending.ts";
import type { EventSubject } from "../../schema/event.ts";
import { readMetadata, withMetadata } from "../../schema/member-metadata.ts";
import type { StatusRecord } from "../../schema/status.ts";
import { recordEvent } from "../../telemetry/event-log.ts";
import { updateTeam } from "../config/config.ts";
import type { TeamRef } from "../ref.ts";
import { eventSubject } from "./members.ts";

/** Milliseconds after which an unfinished ending is anybody's, whoever holds it: all that follows takes a few seconds, and done twice it does no harm. */
const CLAIM_TTL_MS = 30_000;
/** What cannot be done (a pane of a server that does not answer) is given up after this many began it, so that no look fails for ever. */
const MAX_TRIES = 3;

/** Names the end of an agent's process: one that is started again in its pane keeps its instance, its process does not. */
export function endingId({ instance = "", process }: Pick<StatusRecord, "instance" | "process">): string {
  return `ended/${instance}/${process.pid}.${process.procStart}`;
}

/** The endings that this process has under way, whichever of its contexts began them. */
const inProgress = new Set<string>();

/** What is known of an end when it is claimed. */
export type NewEnding = Omit<Ending, "by" | "at" | "tries">;

/** The endings that somebody has begun and nobody finished; a record that does not parse tells nothing. */
export function unfinishedEndings(config: TeamConfig): Ending[] {
  return readMetadata(config, "endings") ?? [];
}

/** Whether nobody is at it any more: who began is dead, gave up, or has taken too long. */
function isAbandoned(ref: TeamRef, { id, by, at }: Ending): boolean {
  if (inProgress.has(keyOf(ref, id))) return false;
  const own = ownIdentity();
  if (by.pid === own.pid && by.procStart === own.procStart) return true;
  return livenessOf(by) === "dead" || Math.abs(systemClock.now() - at) > CLAIM_TTL_MS;
}

/**
 * Claims an event under the config's lock, with a record that survives this process.
 * @param change what else of the config changes with it; undefined when there is no such event (any more)
 * @returns the ending, for {@link finishEnding}; undefined when it is somebody else's or done
 */
export async function claimEnding(
  ref: TeamRef,
  found: NewEnding,
  change: (config: TeamConfig) => TeamConfig | undefined,
): Promise<Ending | undefined> {
  let whose: EventSubject = {};
  const taken = await record(ref, (config) => {
    if (unfinishedEndings(config).some(({ id }) => id === found.id)) return undefined;
    whose = eventSubject(ref, config, found.name);
    const next = change(config);
    return next && { config: next, taken: { ...found, ...claim(), tries: 1 } };
  });
  if (taken !== undefined) recordEvent(ref, { type: "member", what: "ended", ...whose, how: found.how });
  return taken;
}

/** Claims an ending that its claimer has left unfinished. @returns undefined when another was quicker */
export function reclaimEnding(ref: TeamRef, { id }: Pick<Ending, "id">): Promise<Ending | undefined> {
  return record(ref, (config) => {
    const left = unfinishedEndings(config).find((one) => one.id === id);
    if (left === undefined || !isAbandoned(ref, left)) return undefined;
    return { config, taken: { ...left, ...claim(), tries: left.tries + 1 } };
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
      // Before the record can be seen: it names this process, which is at it from now on.
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

/**
 * Does what follows from a claimed ending and takes its record away. When that fails the record stays, and the next look
 * goes on with it.
 * @param change what else of the config says that it is done
 */
export async function finishEnding(
  ref: TeamRef,
  taken: Ending,
  work: () => Promise<void>,
  change: (config: TeamConfig) => TeamConfig,
): Promise<void> {
  const finish = (): Promise<unknown> => updateTeam(ref, (config) => change(without(config, taken.id)));
  try {
    await work();
    await finish();
  } catch (error) {
    if (taken.tries >= MAX_TRIES) await finish();
    throw error;
  } finally {
    inProgress.delete(keyOf(ref, taken.id));
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
