import { after, steadyNow } from "../../os/clock.ts";
import type { Env } from "../../os/env.ts";

/** The files of an agent's directory, which a person names by a part of their path. */
export interface ProjectFiles {
  /**
   * Returns the known paths that match the typed text, the best first.
   * @param more called when others are known
   */
  like(typed: string, limit: number, more: () => void): readonly string[];
}

interface ProjectFilesOptions {
  readonly cwd: string;
  readonly env: Env;
  problem(error: unknown): void;
}

/** Files that are searched: more would take longer than a key may. */
const MAX_FILES = 50_000;
/** Milliseconds after which the files are listed again. */
const CACHE_MS = 15_000;
/** Milliseconds that a listing may take: a network disk may be slow. */
const LIST_TIMEOUT_MS = 20_000;

/** Lists the files at the first question, while the person types on. */
export function projectFiles({ cwd, env, problem }: ProjectFilesOptions): ProjectFiles {
  let names: readonly string[] = [];
  let listedAt = Number.NEGATIVE_INFINITY;
  let isListing = false;
  let waiting: () => void = () => undefined;
  const list = async (): Promise<void> => {
    const { listFiles } = await import("../../agent/tools/list-files.ts");
    const limit = new AbortController();
    const cancel = after(LIST_TIMEOUT_MS, () => limit.abort());
    try {
      const files = await listFiles(cwd, { env, signal: limit.signal });
      // A name with a blank would look like two words.
      names = files
        .slice(0, MAX_FILES)
        .map(({ name }) => name)
        .filter((name) => !/[\s\p{Cc}\ufffd]/u.test(name));
    } finally {
      cancel();
      listedAt = steadyNow();
      isListing = false;
    }
    waiting();
  };
  return {
    like(typed, limit, more) {
      waiting = more;
      if (!isListing && steadyNow() - listedAt > CACHE_MS) {
        isListing = true;
        list().catch(problem);
      }
      return bestPaths(names, typed, limit);
    },
  };
}

/** Returns the paths in which the typed letters occur in their order, without regard to their case; hidden ones only if asked for. */
export function bestPaths(paths: readonly string[], typed: string, limit: number): readonly string[] {
  const wanted = typed.toLowerCase();
  const found = paths.flatMap((path) => {
    const rank =
      wanted.includes(".") || !/(?:^|\/)\./.test(path) ? rankOf(path.toLowerCase(), wanted) : undefined;
    return rank === undefined ? [] : [{ path, rank }];
  });
  return found
    .sort((a, b) => a.rank - b.rank || a.path.length - b.path.length || (a.path < b.path ? -1 : 1))
    .slice(0, limit)
    .map(({ path }) => path);
}

/** Returns the rank of a path, 0 for the best: its name begins with the typed text, has it, the path has it, or only its letters. */
function rankOf(path: string, wanted: string): number | undefined {
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (name.startsWith(wanted)) return 0;
  if (name.includes(wanted)) return 1;
  if (path.includes(wanted)) return 2;
  let at = 0;
  for (const letter of wanted) {
    at = path.indexOf(letter, at) + 1;
    if (at === 0) return undefined;
  }
  return 3;
}
