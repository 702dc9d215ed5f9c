import type { Env } from "../../os/env.ts";
import { findProgram } from "../../os/files/access.ts";
import { isThere, readStart } from "../../os/files/file-parts.ts";
import type { Adapter, AdapterInput, ChannelKind } from "../adapter-schema.ts";
import { knownAdapters } from "../adapters.ts";
import { isInRange, type ProgramVersion, versionOf } from "./cli-version.ts";
import { loginPlace } from "./login-place.ts";
import { rankOf, type VersionRank } from "./version-check.ts";

/** A login as far as files and variables show it. No server is asked, so the login may have expired. */
export interface CliLogin {
  /** `none`: the CLI has never been set up here. `unknown`: it may be in a keychain, or in its settings. */
  readonly state: "found" | "none" | "unknown";
  /** The file or the variable that shows it. */
  readonly from: string | null;
  /** How the user logs in. */
  readonly hint: string | null;
}

/** The Node.js version that a CLI needs, and the version that would run it. */
export interface CliNode {
  readonly needed: string;
  /** Null without Node.js on the PATH. */
  readonly found: string | null;
  /** Null if unknown. */
  readonly isEnough: boolean | null;
}

/** The installation of a third-party CLI on this machine. */
export interface InstalledCli {
  /** Its name in `--cli`. */
  readonly name: string;
  readonly channel: ChannelKind;
  readonly command: string;
  /** Path of its program; null if it is not installed. */
  readonly program: string | null;
  /** Null if it is not installed, or if its version is not known because of `problem`. */
  readonly version: string | null;
  readonly problem: string | null;
  readonly tested: readonly string[];
  /** How its version relates to the tested ones; null if it is not installed. */
  readonly rank: VersionRank | null;
  /** Why members cannot be started with its version; null if they can. */
  readonly refused: string | null;
  readonly login: CliLogin;
  /** Null if it runs without Node.js. */
  readonly node: CliNode | null;
  /** The command that installs it. It is shown, and never run. */
  readonly install: string | null;
  /** How it differs from teams' own agents. */
  readonly notes: readonly string[];
}

/**
 * Looks for all known CLIs, and asks the installed ones for their version. Runs nothing else of them, and downloads nothing.
 * @param own adapters of the settings
 * @param signal ends the version queries early
 */
export async function installedClis(
  own: Readonly<Record<string, AdapterInput>>,
  env: Env,
  signal: AbortSignal,
): Promise<readonly InstalledCli[]> {
  const asked = new Map<string, Promise<ProgramVersion>>();
  // Several adapters can share a program.
  const versionOnce = (file: string, args: readonly string[], all: Env): Promise<ProgramVersion> => {
    const key = JSON.stringify([file, args]);
    const version = asked.get(key) ?? versionOf(file, args, all, { signal });
    asked.set(key, version);
    return version;
  };
  const node = findProgram("node", env);
  const nodeVersion = node === undefined ? undefined : await versionOnce(node, ["--version"], env);
  const found = nodeVersion !== undefined && "version" in nodeVersion ? nodeVersion.version : null;
  return Promise.all(
    [...knownAdapters(own).values()].map(async (adapter) => {
      const file = findProgram(adapter.command, env) ?? null;
      const version =
        file === null ? undefined : await versionOnce(file, adapter.versionArgs, { ...env, ...adapter.env });
      const known = version !== undefined && "version" in version ? version.version : null;
      const rank = file === null ? null : rankOf(adapter, known);
      return {
        name: adapter.id,
        channel: adapter.channel,
        command: adapter.command,
        program: file,
        version: known,
        problem: version !== undefined && "problem" in version ? version.problem : null,
        tested: adapter.tested,
        rank,
        refused: rank === "unsupported" ? (adapter.unsupported?.why ?? null) : null,
        login: loginOf(adapter, env),
        node: nodeOf(adapter, file, found),
        install: adapter.install ?? null,
        notes: adapter.notes,
      };
    }),
  );
}

function loginOf({ login }: Adapter, env: Env): CliLogin {
  const { variables, files, paths } = login;
  const hint = login.hint ?? null;
  const variable = variables.find((name) => env[name]);
  if (variable !== undefined) return { state: "found", from: variable, hint };
  const places = (list: readonly string[]) => list.flatMap((path) => loginPlace(path, env) ?? []);
  const file = files.find((path) => places([path]).some((place) => (readStart(place, 1) ?? []).length > 0));
  if (file !== undefined) return { state: "found", from: file, hint };
  const isSetUp = paths.length === 0 || places(paths).some(isThere);
  return { state: isSetUp ? "unknown" : "none", from: null, hint };
}

/** Returns the Node.js that a CLI needs. Only a script needs it: the CLI may also be installed as a native program. */
function nodeOf({ node: needed }: Adapter, file: string | null, found: string | null): CliNode | null {
  if (needed === undefined || (file !== null && !isNodeScript(file))) return null;
  return { needed, found, isEnough: found === null ? null : (isInRange(found, needed) ?? null) };
}

/** Bytes to read for the first line of a program. */
const FIRST_LINE = 256;

function isNodeScript(file: string): boolean {
  return /^#!.*\bnode\b/.test(readStart(file, FIRST_LINE)?.toString("latin1") ?? "");
}
