import { dirname, join } from "node:path";
import type { Env } from "../../os/env.ts";
import { runtimeDirectory } from "../../os/files/app-directories.ts";
import { entryOf, isDirectory } from "../../os/files/fs.ts";
import { PathLookup } from "../../os/files/path-lookup.ts";
import { realPathOf } from "../../os/files/symlinks.ts";
import { inOrder, type SandboxPlace } from "../../os/sandbox/view.ts";
import { linkedEntries } from "../permissions/protected-paths.ts";
import type { DeniedPlace } from "./denied-places.ts";
import { gitPlaces } from "./git-places.ts";
import type { ProtectedFiles } from "./protected-places.ts";
import { SOCKET_VARIABLES, secretPlaces } from "./secrets.ts";

export interface PlacesOptions {
  /** Directories that commands may write. */
  readonly workingDirs: readonly string[];
  /** Additional places that commands may write, and hidden places that they may read. */
  readonly write: readonly string[];
  readonly read: readonly string[];
  /** Directories of teams: hidden. */
  readonly roots: readonly string[];
  /** Places in hidden directories that commands read: shell snapshots, skills. */
  readonly visible: readonly string[];
  readonly protectedFiles: ProtectedFiles;
  /** Protected entries below the working directories, from an earlier search. */
  readonly nested: readonly string[];
  /** Places that deny rules for files close. */
  readonly denied: readonly DeniedPlace[];
  /** Paths that were read-only for an earlier command. They come first: a command may create any number of nearer paths. */
  readonly earlier: ReadonlySet<string>;
  readonly home: string;
  readonly env: Env;
  /** Private directories that commands see as /tmp and /var/tmp; undefined if the system cannot replace them. */
  readonly temporary?: { readonly tmp: string; readonly varTmp: string } | undefined;
}

/** Maximum read-only places of a sandbox, and maximum denied places. The nearest are kept, because each mount takes time. */
export const MAX_PLACES = 200;

/** Parts of /run that programs need to resolve names, and on NixOS to run at all. */
const VISIBLE_RUN = [
  "systemd/resolve",
  "resolvconf",
  "NetworkManager/resolv.conf",
  "current-system",
  "wrappers",
];

/**
 * Returns the places of an agent's sandbox as they are now: places that commands may write, read-only places in writable
 * directories, and hidden places. A place that a setting names is not hidden.
 */
export function sandboxPlaces(options: PlacesOptions): readonly SandboxPlace[] {
  const { workingDirs, write, read, visible, temporary, home, env, roots, earlier } = options;
  const lookup = new PathLookup();
  const placed = (paths: readonly string[], access: SandboxPlace["access"]): SandboxPlace[] =>
    existing(paths, access, lookup);
  const writable = [...workingDirs, ...write].map(realPathOf).filter((path) => entryOf(path) !== undefined);
  const git = workingDirs.map((directory) => gitPlaces(directory, home));
  const named = [...write, ...read].map(realPathOf);
  const isNamed = (path: string): boolean => named.includes(path);
  const readOnly = [
    ...git.flatMap((one) => one.readOnly),
    ...writable.flatMap((directory) => options.protectedFiles.at(directory)),
    ...options.nested,
    ...roots.flatMap(linkedEntries),
    ...deniedPaths(options, "read"),
  ];
  const places = effective([
    ...replaced(temporary),
    ...placed([...writable, ...git.flatMap((one) => one.writable)], "write"),
    ...placed([...visible, ...VISIBLE_RUN.map((name) => join("/run", name)), ...read], "read"),
    ...placed(hiddenPlaces(env, home, roots), "none").filter(({ path }) => !isNamed(path)),
    ...placed(deniedPaths(options, "none").slice(0, MAX_PLACES), "none"),
  ]);
  const decisive = new Map(places.map((place) => [place.path, place]));
  const visiblePlaces = placed(readOnly, "read").filter((place) => isVisible(place, decisive));
  const byAge = [true, false].flatMap((isEarlier) =>
    visiblePlaces.filter(({ path }) => earlier.has(path) === isEarlier),
  );
  return [...places, ...byAge.slice(0, MAX_PLACES)];
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

function deniedPaths({ denied }: PlacesOptions, access: DeniedPlace["access"]): string[] {
  return denied.filter((place) => place.access === access).map(({ path }) => path);
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

/** Keeps existing places, with their links resolved, once each. A path that leads nowhere must not prevent all later commands. */
function existing(
  paths: readonly string[],
  access: SandboxPlace["access"],
  lookup: PathLookup,
): SandboxPlace[] {
  const found = new Map(paths.flatMap((path) => lookup.find(path) ?? []).map((one) => [one.path, one]));
  return [...found.values()].map((one) => ({ ...one, access }));
}

/**
 * Leaves out places that change nothing: the place around them has the same access already. A hidden place in a replaced
 * directory does not exist, and mounting over it would create it.
 */
function effective(places: readonly SandboxPlace[]): readonly SandboxPlace[] {
  const kept: SandboxPlace[] = [];
  const decisive = new Map<string, SandboxPlace>();
  for (const place of inOrder(places)) {
    const around = placeAround(place, decisive);
    const isRedundant =
      place.access === "read" ? around === undefined : place.access === "none" && isHidden(around);
    if (isRedundant) continue;
    kept.push(place);
    decisive.set(place.path, place);
  }
  return kept;
}

/** Returns true if commands could write a place that must be read-only; protection must not show hidden places. */
function isVisible(place: SandboxPlace, decisive: ReadonlyMap<string, SandboxPlace>): boolean {
  const around = placeAround(place, decisive);
  return decisive.get(place.path)?.access !== "none" && around?.access === "write" && !isHidden(around);
}

/** The most specific place that a place is in. @param decisive by path, the strictest place of each */
function placeAround(
  { path }: SandboxPlace,
  decisive: ReadonlyMap<string, SandboxPlace>,
): SandboxPlace | undefined {
  for (let at = path; at !== "/"; ) {
    at = dirname(at);
    const around = decisive.get(at);
    if (around !== undefined) return around;
  }
  return undefined;
}

function isHidden(place: SandboxPlace | undefined): boolean {
  return place?.access === "none" || place?.source !== undefined;
}
