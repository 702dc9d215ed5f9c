import type { Env } from "../env.ts";
import { inOrder, type SandboxPlace, type SandboxView } from "./view.ts";

/**
 * The options that isolate every program. A user namespace comes with the others: without it, root would keep the rights to undo the
 * mounts. A new session keeps it from typing into the terminal of its starter (TIOCSTI).
 */
const ISOLATE = [
  ...["--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"],
  ...["--die-with-parent", "--new-session", "--cap-drop", "ALL"],
];

/** Closes the way to further user namespaces; bubblewrap 0.8 and newer. */
const NO_NAMESPACES = "--disable-userns";

/** The whole file system, read-only, with new device files and a separate process list. */
const BASE = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"];
const WRITABLE_BASE = ["--bind", ...BASE.slice(1)];

/** A program to run inside. */
export interface InnerProgram {
  readonly cwd: string;
  /** Variables that only the program may have, and not `bwrap` itself. */
  readonly env?: Env;
  readonly words: readonly string[];
}

/** Returns the arguments with which `bwrap` runs a program. No shell reads them. Pure. */
export function bubblewrapArgs(view: SandboxView, { cwd, env = {}, words }: InnerProgram): string[] {
  // A later mount of the root would cover the new devices.
  const root = view.places.find(({ path }) => path === "/");
  const isRootWritable = root?.access === "write";
  return [
    ...ISOLATE,
    ...(view.allowsNamespaces ? [] : [NO_NAMESPACES]),
    ...(view.network === "own" ? ["--unshare-net"] : []),
    ...(isRootWritable ? WRITABLE_BASE : BASE),
    ...inOrder(view.places.filter((place) => place !== root)).flatMap((place) =>
      mount(place, view.emptyFile),
    ),
    ...Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : ["--setenv", name, value])),
    ...["--chdir", cwd, "--"],
    ...words,
  ];
}

function mount({ path, isDirectory, access, source = path }: SandboxPlace, emptyFile: string): string[] {
  // A place that has gone meanwhile is left out.
  if (access === "write") return ["--bind-try", source, path];
  if (access === "read") return ["--ro-bind-try", source, path];
  return isDirectory ? ["--tmpfs", path] : ["--ro-bind", emptyFile, path];
}

/**
 * Returns the arguments for our own program that holds a new network; bwrap reports its pid on a descriptor. It sees all files:
 * for new device files, and to close further namespaces, bwrap would create a second user namespace, from which no other program can
 * enter the network.
 */
export function networkHolderArgs(infoFd: number, program: readonly string[]): string[] {
  return [...ISOLATE, "--unshare-net", "--info-fd", String(infoFd), "--dev-bind", "/", "/", "--", ...program];
}
