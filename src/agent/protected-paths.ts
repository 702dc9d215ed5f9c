import { relative, sep } from "node:path";

/** Files that a shell reads when it starts, by name. */
const START_UP_FILES: ReadonlySet<string> = new Set([
  ".profile",
  ".bashrc",
  ".bash_profile",
  ".bash_login",
  ".bash_logout",
  ".bash_aliases",
  ".zshrc",
  ".zshenv",
  ".zprofile",
  ".zlogin",
  ".zlogout",
  ".kshrc",
  ".mkshrc",
  ".cshrc",
  ".tcshrc",
  ".login",
  ".envrc",
]);

/**
 * Whether a write to this path could widen what an agent may do or what a person's shell runs: the root, `.claude`,
 * `.git`, `.mcp.json`, shell start-up files (protocol.md section 6). Names are compared without case, since a file
 * system may do so.
 * @param path absolute and normal
 */
export function isProtectedPath(path: string, roots: readonly string[]): boolean {
  if (roots.some((root) => isInside(path, root))) return true;
  const parts = path.toLowerCase().split(sep);
  const name = parts.at(-1) ?? "";
  if (parts.includes(".git") || parts.includes(".claude")) return true;
  if (name === ".mcp.json" || START_UP_FILES.has(name)) return true;
  return parts.includes("fish") && (name === "config.fish" || parts.includes("conf.d"));
}

/** Whether a path is a directory or something below it. Both absolute and normal. */
export function isInside(path: string, directory: string): boolean {
  const way = relative(directory, path);
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && !way.startsWith("/"));
}

/** Whether all these are notes of an agent: Markdown files in its directory for them, not hidden. All absolute and normal. */
export function areNotes(paths: readonly string[], directory: string): boolean {
  const isNote = (path: string): boolean =>
    isInside(path, directory) && path.endsWith(".md") && !relative(directory, path).split(sep).some(isHidden);
  return paths.length > 0 && paths.every(isNote);
}

function isHidden(name: string): boolean {
  return name.startsWith(".");
}
