import { dirname, join } from "node:path";
import { isSystemError } from "../../errors.ts";
import type { Env } from "../../os/env.ts";
import { runtimeDirectory } from "../../os/files/app-directories.ts";
import { entryOf, isDirectory } from "../../os/files/fs.ts";
import { realPathOf } from "../../os/files/symlinks.ts";
import { inOrder, type SandboxPlace } from "../../os/sandbox/view.ts";
import { isInside } from "../permissions/protected-paths.ts";
import { gitPlaces } from "./git-places.ts";
import type { ProtectedFiles } from "./protected-places.ts";
import { SOCKET_VARIABLES, secretPlaces } from "./secrets.ts";

export interface PlacesOptions {
  /** Directories that commands may write. */
  readonly workingDirs: readonly string[];
  /** Further places that commands may write, and hidden ones that they may read. */
  readonly write: readonly string[];
  readonly read: readonly string[];
  /** Directories of teams: hidden. */
  readonly roots: readonly string[];
  /** Places in hidden directories that commands read: shell snapshots, skills. */
  readonly visible: readonly string[];
  readonly protectedFiles: ProtectedFiles;
  /** Protected entries below the working directories, from an earlier search. */
  readonly nested: readonly string[];
  readonly home: string;
  readonly env: Env;
  /** Private directories that commands see as /tmp and /var/tmp; undefined if the system cannot replace them. */
  readonly temporary?: { readonly tmp: string; readonly varTmp: string } | undefined;
}

/** Protected places of one sandbox, nearest first: each mount of bubblewrap takes longer than the one before. */
const MAX_READ_ONLY = 200;

/** Parts of /run that programs need to resolve names, and on NixOS to run at all. */
const VISIBLE_RUN = [
  "systemd/resolve",
  "resolvconf",
  "NetworkManager/resolv.conf",
  "current-system",
  "wrappers",
];

/**
 * Returns the places of an agent's sandbox as they are now: what commands write, what is read-only although it is in a
 * writable directory, and what they do not see. A place that a setting names is not hidden.
 */
export function sandboxPlaces(options: PlacesOptions): readonly SandboxPlace[] {
  const { workingDirs, write, read, visible, temporary, home, env, roots } = options;
  const writable = [...workingDirs, ...write].map(realPathOf).filter((path) => entryOf(path) !== undefined);
  const git = workingDirs.map((directory) => gitPlaces(directory, home));
  const named = [...write, ...read].map(realPathOf);
  const isNamed = (path: string): boolean => named.includes(path);
  const readOnly = [
    ...git.flatMap((one) => one.readOnly),
    ...writable.flatMap((directory) => options.protectedFiles.at(directory)),
    ...options.nested,
  ];
  const places = effective([
    ...replaced(temporary),
    ...existing([...writable, ...git.flatMap((one) => one.writable)], "write"),
    ...existing([...visible, ...VISIBLE_RUN.map((name) => join("/run", name)), ...read], "read"),
    ...existing(hiddenPlaces(env, home, roots), "none").filter(({ path }) => !isNamed(path)),
  ]);
  const visibleOnes = existing(readOnly, "read").filter((place) => isVisible(place, places));
  return [...places, ...visibleOnes.slice(0, MAX_READ_ONLY)];
}

function replaced(temporary: PlacesOptions["temporary"]): SandboxPlace[] {
  if (temporary === undefined) return [];
  return (
    [
      ["/tmp", temporary.tmp],
      ["/var/tmp", temporary.varTmp],
    ] as const
  )
    .filter(([path]) => isDirectory(path) && realPathOf(path) === path)
    .map(([path, source]) => ({ path, source, access: "write", isDirectory: true }));
}

/** Secrets, teams' own directories, and the sockets of the session, of tmux and of other agents. */
function hiddenPlaces(env: Env, home: string, roots: readonly string[]): string[] {
  const tmuxSocket = env.TMUX?.split(",")[0];
  return [
    ...["/run", "/var/run"],
    ...secretPlaces(home),
    ...roots,
    runtimeDirectory(env),
    ...[env.XDG_RUNTIME_DIR, tmuxSocket && dirname(tmuxSocket), env.XAUTHORITY, env.KUBECONFIG],
    ...SOCKET_VARIABLES.map((name) => env[name]),
  ].filter((path): path is string => path?.startsWith("/") === true);
}

/** Keeps existing places, with their links resolved, once each. */
function existing(paths: readonly string[], access: SandboxPlace["access"]): SandboxPlace[] {
  const real = new Set(paths.flatMap((path) => resolved(path) ?? []));
  return [...real].map((path) => ({ path, access, isDirectory: isDirectory(path) }));
}

/** Returns where an existing path leads. A loop of links, or a closed directory, must not prevent every further command. */
function resolved(path: string): string | undefined {
  try {
    const real = entryOf(path) === undefined ? undefined : realPathOf(path);
    return real === undefined || entryOf(real) === undefined ? undefined : real;
  } catch (error) {
    if (isSystemError(error)) return undefined;
    throw error;
  }
}

/**
 * Leaves out places that change nothing: their surroundings have the same access already. A hidden place in a replaced
 * directory is not there, and mounting over it would create it.
 */
function effective(places: readonly SandboxPlace[]): readonly SandboxPlace[] {
  const kept: SandboxPlace[] = [];
  for (const place of inOrder(places)) {
    const around = placeAround(place, kept);
    const isRedundant =
      place.access === "read" ? around === undefined : place.access === "none" && isHidden(around);
    if (!isRedundant) kept.push(place);
  }
  return kept;
}

/** Whether commands can write a place that must be read-only; protection must not show what is hidden. */
function isVisible(place: SandboxPlace, places: readonly SandboxPlace[]): boolean {
  const isHiddenItself = places.some(({ path, access }) => path === place.path && access === "none");
  return (
    !isHiddenItself && placeAround(place, places)?.access === "write" && !isHidden(placeAround(place, places))
  );
}

/** The most specific place that a place is in. @param places ordered, parents first */
function placeAround(place: SandboxPlace, places: readonly SandboxPlace[]): SandboxPlace | undefined {
  return places.findLast(({ path }) => path !== place.path && isInside(place.path, path));
}

function isHidden(place: SandboxPlace | undefined): boolean {
  return place?.access === "none" || place?.source !== undefined;
}
