import type { Env } from "../env.ts";
import { inOrder, type SandboxPlace, type SandboxView } from "./view.ts";

/**
 * The options that isolate every program. They include a user namespace: without one, root would keep the right to undo the mounts.
 * The new session prevents the program from typing into the terminal that it was started in (TIOCSTI).
 */
const ISOLATE = [
  ...["--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"],
  ...["--die-with-parent", "--new-session", "--cap-drop", "ALL"],
];

/** Prevents additional user namespaces; needs bubblewrap 0.8 or newer. */
const NO_NAMESPACES = "--disable-userns";

/** The whole file system, read-only, with new device files and a separate process list. */
const BASE = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"];
const WRITABLE_BASE = ["--bind", ...BASE.slice(1)];

/** A program to run in the sandbox. */
export interface InnerProgram {
  readonly cwd: string;
  /** Variables for the program only, not for `bwrap` itself. */
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
  // `-try` leaves out a place that has been removed meanwhile.
  if (access === "write") return ["--bind-try", source, path];
  if (access === "read") return ["--ro-bind-try", source, path];
  return isDirectory ? ["--tmpfs", path] : ["--ro-bind", emptyFile, path];
}

/**
 * Returns the arguments with which `bwrap` runs the program of teams that holds a new network; bwrap reports its pid on a descriptor.
 * The program sees all files. To provide new device files or prevent additional namespaces, bwrap would create a second user
 * namespace, and no other program could enter the network.
 */
export function networkHolderArgs(infoFd: number, program: readonly string[]): string[] {
  return [...ISOLATE, "--unshare-net", "--info-fd", String(infoFd), "--dev-bind", "/", "/", "--", ...program];
}
