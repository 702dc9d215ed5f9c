import { TeamError } from "../../errors.ts";
import { after, steadyNow } from "../../os/clock.ts";
import type { Env } from "../../os/env.ts";

/** The files of an agent's directory, which a person names by a part of their path. */
export interface ProjectFiles {
  /**
   * Returns the known paths that match the typed text, the best first.
   * @param more called later, when more paths are known
   */
  like(typed: string, limit: number, more: () => void): readonly string[];
}

interface ProjectFilesOptions {
  readonly cwd: string;
  readonly env: Env;
  problem(error: unknown): void;
  /** Time limit of a listing in milliseconds. */
  readonly limitMs?: number;
}

/** Maximum files that are searched: with more, a key press would take too long. */
const MAX_FILES = 50_000;
/** Milliseconds after which the files are listed again. */
const CACHE_MS = 15_000;
/** Time limit of a listing in milliseconds: a network disk may be slow. */
const LIST_LIMIT_MS = 20_000;

/** Lists the files at the first search, while the person keeps typing. */
export function projectFiles({
  cwd,
  env,
  problem,
  limitMs = LIST_LIMIT_MS,
}: ProjectFilesOptions): ProjectFiles {
  const tooSlow = new TeamError(
    "TIMEOUT",
    `The files of ${cwd} could not be listed within ${limitMs / 1000} s. @ still completes a path part by part.`,
  );
  let isKnownSlow = false;
  let paths: readonly SearchedPath[] = [];
  let listedAt = Number.NEGATIVE_INFINITY;
  let isListing = false;
  let waiting: () => void = () => undefined;
  const list = async (): Promise<void> => {
    const { listFiles } = await import("../../agent/tools/list-files.ts");
    const limit = new AbortController();
    const cancel = after(limitMs, () => limit.abort(tooSlow));
    try {
      const files = await listFiles(cwd, { env, signal: limit.signal });
      // A name with a space would look like two words.
      const names = files.slice(0, MAX_FILES).map(({ name }) => name);
      paths = searchedPaths(names.filter((name) => !/[\s\p{Cc}\ufffd]/u.test(name)));
    } finally {
      cancel();
      listedAt = steadyNow();
      isListing = false;
    }
    waiting();
  };
  const failed = (error: unknown): void => {
    // The disk may stay slow, and later keys list the files again: report it once.
    if (error === tooSlow && isKnownSlow) return;
    if (error === tooSlow) isKnownSlow = true;
    problem(error);
  };
  return {
    like(typed, limit, more) {
      waiting = more;
      if (!isListing && steadyNow() - listedAt > CACHE_MS) {
        isListing = true;
        list().catch(failed);
      }
      return bestPaths(paths, typed, limit);
    },
  };
}

/** A path, prepared for a search. */
interface SearchedPath {
  readonly path: string;
  readonly lower: string;
  /** Index at which the file's name begins. */
  readonly nameAt: number;
  readonly isHidden: boolean;
}

/** Prepares paths for a search, the shortest first, so that a key press only compares them. */
export function searchedPaths(paths: readonly string[]): readonly SearchedPath[] {
  return paths
    .map((path) => ({
      path,
      lower: path.toLowerCase(),
      nameAt: path.toLowerCase().lastIndexOf("/") + 1,
      isHidden: /(?:^|\/)\./.test(path),
    }))
    .sort((a, b) => a.path.length - b.path.length || (a.path < b.path ? -1 : 1));
}

/** Returns the paths that contain the typed letters in order, ignoring case; hidden paths only if a dot is typed. */
export function bestPaths(paths: readonly SearchedPath[], typed: string, limit: number): readonly string[] {
  const wanted = typed.toLowerCase();
  const found: readonly [string[], string[], string[], string[]] = [[], [], [], []];
  for (const searched of paths) {
    if (searched.isHidden && !wanted.includes(".")) continue;
    const rank = rankOf(searched, wanted);
    if (rank !== undefined && found[rank].length < limit) found[rank].push(searched.path);
  }
  return found.flat().slice(0, limit);
}

/** Ranks a match, 0 is best: the name begins with the text, the name contains it, the path contains it, the path has its letters. */
function rankOf({ lower, nameAt }: SearchedPath, wanted: string): 0 | 1 | 2 | 3 | undefined {
  if (lower.startsWith(wanted, nameAt)) return 0;
  if (lower.includes(wanted, nameAt)) return 1;
  if (lower.includes(wanted)) return 2;
  let at = 0;
  for (const letter of wanted) {
    at = lower.indexOf(letter, at) + 1;
    if (at === 0) return undefined;
  }
  return 3;
}
