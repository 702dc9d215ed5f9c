import { sep } from "node:path";

/** Access of a program to a place: all, only reading, or none, so that its content is invisible. */
type PlaceAccess = "write" | "read" | "none";

/** One rule of a {@link SandboxView}. */
export interface SandboxPlace {
  /** Absolute, with every link resolved. It exists. */
  readonly path: string;
  readonly isDirectory: boolean;
  readonly access: PlaceAccess;
  /** Directory that appears at this path instead; only bubblewrap can do that. */
  readonly source?: string;
}

/** The view of a program in the sandbox. Everything that no place names is readable. */
export interface SandboxView {
  /** In any order: the most specific place decides. */
  readonly places: readonly SandboxPlace[];
  /** An empty file to show instead of a hidden file. */
  readonly emptyFile: string;
  /**
   * `all`: the network of this machine. `own`: a new network without a way out. `joined`: the network that the program is
   * started in. Seatbelt has no separate networks: `joined` is the port of a proxy on loopback.
   */
  readonly network: "all" | "own" | "joined" | { readonly proxyPort: number };
  /** Whether programs inside can create user namespaces, in which they are root and can change mounts. */
  readonly allowsNamespaces?: boolean;
}

const STRENGTH: readonly PlaceAccess[] = ["write", "read", "none"];

/** Orders places so that the last place that contains a path decides: parents first, and for one path the strictest last. */
export function inOrder(places: readonly SandboxPlace[]): readonly SandboxPlace[] {
  const depth = ({ path }: SandboxPlace): number => (path === "/" ? 1 : path.split(sep).length);
  return [...places].sort(
    (a, b) => depth(a) - depth(b) || STRENGTH.indexOf(a.access) - STRENGTH.indexOf(b.access),
  );
}
