import { join } from "node:path";
import { realOf } from "./path-list.ts";
import { ends, literally, meetings, UNKNOWN, unescaped } from "./pattern-meetings.ts";

/**
 * The words of a line as directories, and as names in them: `cp a.fish ~/.config/fish` and `env -C ~/.config tee git/config` write
 * files that no word names. Only the programs know which word is which.
 */
export interface JoinedPaths {
  /** Absolute, as patterns. */
  readonly directories: readonly string[];
  /** Relative, as patterns in parts. */
  readonly names: readonly (readonly string[])[];
}

/** Returns a word as a name in another directory: as written, and without its own directory. */
export function namesOfWord(word: string): readonly (readonly string[])[] {
  const parts = word.split("/").filter((part) => part !== "" && part !== ".");
  const isRelative = !/^[/~]/.test(word) && !parts.includes("..") && !word.includes(UNKNOWN);
  const last = parts.slice(-1);
  // A name that only the shell knows may be any name.
  if (last.length === 0 || last[0] === ".." || last[0]?.includes(UNKNOWN)) return [];
  return isRelative && parts.length > 1 ? [parts, last] : [last];
}

/** Maximum number of paths that are compared with one rule: more count as a match. */
const MAX_JOINED = 200;

/**
 * Returns the paths of names in directories that the pattern of a rule may cover; undefined if they are too many. The time is
 * linear in the directories and in the names.
 * @param rule the pattern in parts, from the root
 */
export function joinedMeeting(
  { directories, names }: JoinedPaths,
  rule: readonly string[],
): readonly string[] | undefined {
  const end = ends(rule);
  const rows = names.map((name) => meetings(name, rule, end));
  const any = end.map((_, j) => j < rule.length && rows.some((row) => row[j] === true));
  if (!any.includes(true)) return [];
  const bases = directories.filter((directory) => meetings(directory.split("/"), rule, any)[0] === true);
  const matchingNames = names.filter((_, i) => rows[i]?.some((meets, j) => meets && j < rule.length));
  if (bases.length * matchingNames.length > MAX_JOINED) return undefined;
  return bases.flatMap((directory) => matchingNames.map((name) => join(directory, ...name)));
}

/** Adds the real paths of the directories. */
export function withRealDirectories(
  joined: JoinedPaths,
  resolve: ((path: string) => string) | undefined,
): JoinedPaths {
  const real = joined.directories.map((path) => literally(realOf(unescaped(path), resolve)));
  return { ...joined, directories: [...new Set([...joined.directories, ...real])] };
}
