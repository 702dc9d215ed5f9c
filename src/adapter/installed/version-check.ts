import { messageOf, TeamError } from "../../errors.ts";
import type { Env } from "../../os/env.ts";
import { findProgram } from "../../os/files/access.ts";
import type { Sandbox } from "../../os/sandbox/sandbox.ts";
import type { Adapter, AdapterInput } from "../adapter-schema.ts";
import { knownAdapters } from "../adapters.ts";
import { requireProgram } from "../require-program.ts";
import { isInRange, type ProgramVersion, versionOf } from "./cli-version.ts";

/** The version of a CLI for its adapter. `unknown`: the adapter names no tested versions, or the CLI reports no version. */
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
  /** Notes that the version was not tested, or is unknown. */
  readonly note: (text: string) => void;
}

/**
 * Refuses a CLI in a version that its channel does not know, before it starts. Any other version that was not tested is noted, which
 * no start waits for.
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
 * Refuses a CLI in a version that its channel does not know, before anything of a member exists.
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
  // Anything else that is wrong with it is found by the checks of the spawn.
  const file = adapter?.unsupported === undefined ? undefined : findProgram(adapter.command, env);
  if (adapter === undefined || file === undefined) return;
  const answer = await versionOf(file, adapter.versionArgs, { ...env, ...adapter.env }, { signal });
  acceptVersion(adapter, answer, () => undefined);
}

/** Notes a version that was not tested. @throws TeamError SPAWN_FAILED for a version that the channel does not know */
export function acceptVersion(adapter: Adapter, answer: ProgramVersion, note: (text: string) => void): void {
  const { id, unsupported, tested } = adapter;
  const version = "version" in answer ? answer.version : null;
  if (unsupported !== undefined && rankOf(adapter, version) === "unsupported") {
    const which =
      tested.length === 0 ? "an older version" : `one of the tested versions: ${tested.join(", ")}`;
    throw new TeamError("SPAWN_FAILED", `${id} ${version} was not started: ${unsupported.why}`, {
      hint: `Install ${which}.`,
    });
  }
  const text = noteOf(adapter, answer);
  if (text !== undefined) note(text);
}

async function readVersion({ adapter, cwd, env, sandbox, signal }: CheckedCli): Promise<ProgramVersion> {
  const file = requireProgram(adapter, env);
  const plain = { file, args: adapter.versionArgs, env: { ...env, ...adapter.env } };
  const own = (await sandbox?.wrap(plain, cwd)) ?? plain;
  return versionOf(own.file, own.args, own.env, { signal });
}

/** Returns what to note about a version; undefined for a tested one, and without tested ones. */
function noteOf(adapter: Adapter, answer: ProgramVersion): string | undefined {
  const { id, tested } = adapter;
  if (tested.length === 0) return undefined;
  if ("problem" in answer)
    return `the version of ${id} is not known (${answer.problem}), so it may differ from what teams expects`;
  if (rankOf(adapter, answer.version) !== "untested") return undefined;
  return `${id} ${answer.version} was not tested with teams (tested: ${tested.join(", ")})`;
}
