import { messageOf, TeamError } from "../../errors.ts";
import type { Env } from "../../os/env.ts";
import { findProgram } from "../../os/files/access.ts";
import type { Sandbox } from "../../os/sandbox/sandbox.ts";
import type { Adapter, AdapterInput } from "../adapter-schema.ts";
import { knownAdapters } from "../adapters.ts";
import { requireProgram } from "../require-program.ts";
import { isInRange, type ProgramVersion, versionOf } from "./cli-version.ts";

/** How the version of a CLI relates to its adapter. `unknown`: the adapter names no tested versions, or the CLI reports no version. */
export type VersionRank = "tested" | "untested" | "unsupported" | "unknown";

export function rankOf(
  { tested, unsupported }: Pick<Adapter, "tested" | "unsupported">,
  version: string | null,
): VersionRank {
  if (version === null) return "unknown";
  if (unsupported !== undefined && isInRange(version, unsupported.versions) === true) return "unsupported";
  if (tested.length === 0) return "unknown";
  return tested.includes(version) ? "tested" : "untested";
}

interface CheckedCli {
  readonly adapter: Adapter;
  readonly cwd: string;
  /** The environment of the CLI, without the variables of its adapter. */
  readonly env: Env;
  /** The sandbox of the whole CLI; undefined without one. */
  readonly sandbox: Sandbox | undefined;
  /** Ends the program that prints its version. */
  readonly signal: AbortSignal;
  /** Receives a note that the version was not tested, or is unknown. */
  readonly note: (text: string) => void;
}

/**
 * Refuses a version of a CLI that its channel does not support, before the CLI starts. Notes any other untested version; the start does
 * not wait for that.
 * @throws TeamError SPAWN_FAILED
 */
export async function checkVersion(checked: CheckedCli): Promise<void> {
  const { adapter, signal, note } = checked;
  if (adapter.unsupported === undefined && adapter.tested.length === 0) return;
  const known = readVersion(checked);
  if (adapter.unsupported !== undefined) return acceptVersion(adapter, await known, note);
  known.then(
    (answer) => signal.aborted || acceptVersion(adapter, answer, note),
    (error: unknown) => signal.aborted || note(messageOf(error)),
  );
}

/**
 * Refuses a version of a CLI that its channel does not support, before any part of a member exists.
 * @param own adapters of the settings
 * @throws TeamError SPAWN_FAILED
 */
export async function refuseUnsupported(
  cli: string,
  own: Readonly<Record<string, AdapterInput>>,
  env: Env,
  signal: AbortSignal = new AbortController().signal,
): Promise<void> {
  const adapter = knownAdapters(own).get(cli);
  // The checks of the spawn find every other problem with the CLI.
  const file = adapter?.unsupported === undefined ? undefined : findProgram(adapter.command, env);
  if (adapter === undefined || file === undefined) return;
  const answer = await versionOf(file, adapter.versionArgs, { ...env, ...adapter.env }, { signal });
  acceptVersion(adapter, answer, () => undefined);
}

/** Notes a version that was not tested. @throws TeamError SPAWN_FAILED for a version that the channel does not support */
export function acceptVersion(adapter: Adapter, answer: ProgramVersion, note: (text: string) => void): void {
  const { id, unsupported, tested } = adapter;
  const version = "version" in answer ? answer.version : null;
  if (unsupported !== undefined && rankOf(adapter, version) === "unsupported") {
    throw new TeamError("SPAWN_FAILED", `${id} ${version} was not started: ${unsupported.why}`, {
      hint: supportedVersionHint(tested),
    });
  }
  const text = noteOf(adapter, answer);
  if (text !== undefined) note(text);
}

/** Returns what to do about an unsupported version. */
export function supportedVersionHint(tested: readonly string[]): string {
  return tested.length === 0
    ? "Install an older version."
    : `Install one of the tested versions: ${tested.join(", ")}.`;
}

async function readVersion({ adapter, cwd, env, sandbox, signal }: CheckedCli): Promise<ProgramVersion> {
  const file = requireProgram(adapter, env);
  const command = { file, args: adapter.versionArgs, env: { ...env, ...adapter.env } };
  const wrapped = (await sandbox?.wrap(command, cwd)) ?? command;
  return versionOf(wrapped.file, wrapped.args, wrapped.env, { signal });
}

/** Returns the note about a version; undefined for a tested version, or if the adapter names no tested versions. */
function noteOf(adapter: Adapter, answer: ProgramVersion): string | undefined {
  const { id, tested } = adapter;
  if (tested.length === 0) return undefined;
  if ("problem" in answer)
    return `the version of ${id} is unknown (${answer.problem}); teams may not have been tested with it`;
  if (rankOf(adapter, answer.version) !== "untested") return undefined;
  return `${id} ${answer.version} was not tested with teams (tested: ${tested.join(", ")})`;
}
