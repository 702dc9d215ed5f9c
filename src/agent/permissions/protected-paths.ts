import { relative, sep } from "node:path";
import { foldedName, startupReader } from "./startup-files.ts";

/**
 * Why a write to this path could widen what an agent may do or what runs as the person, as the end of a sentence about it: the root,
 * `.claude`, `.git`, `.mcp.json`, start-up files (protocol.md section 6). Names are compared as a file
 * system may do that takes no notice of case.
 * @param path absolute and normal
 * @returns undefined where it could not
 */
export function protectedReason(path: string, roots: readonly string[]): string | undefined {
  if (roots.some((root) => isInside(path, root))) return "is a file of teams' own";
  const parts = foldedName(path).split(sep);
  if (parts.includes(".git")) return "is git's own, which runs what it finds there";
  if (parts.includes(".claude") || parts.at(-1) === ".mcp.json") return "can widen what agents do";
  const reader = startupReader(path);
  return reader === undefined ? undefined : `is read by ${reader}`;
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
