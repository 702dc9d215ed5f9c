import { basename, dirname, join, relative, resolve, sep } from "node:path";
import picomatch from "picomatch";
import { timeLimit } from "../../os/time-limit.ts";
import { isInside } from "./protected-paths.ts";
import { foldedName } from "./startup-files.ts";

/**
 * An allowance looks at where links lead; a refusal also at how it is written, at the place that its pattern names by way of
 * links, and not at upper and lower case, which are one to many a file system.
 */
export function pathsMatch(
  pattern: string,
  written: readonly string[],
  { realPaths, cwd, home, resolve }: PathSubject,
  reach: "every" | "any",
): boolean {
  const named = anchors(pattern, cwd, home);
  const nocase = reach === "any";
  const globs =
    nocase && resolve !== undefined
      ? [...named, ...named.flatMap((one) => resolvedGlob(one, resolve))]
      : named;
  const matches = (path: string): boolean => globs.some((glob) => pathMatches(glob, path, nocase));
  if (reach === "any") return [...written, ...realPaths].some(matches);
  return realPaths.length > 0 && realPaths.every(matches);
}

/** What a pattern is held against. */
export interface PathSubject {
  /** Paths with every link resolved. */
  readonly realPaths: readonly string[];
  /** Where a relative pattern starts. */
  readonly cwd: string;
  readonly home: string | undefined;
  /** Resolves the links of a path; without it patterns are about places by the names that they have. */
  readonly resolve?: ((path: string) => string) | undefined;
}

interface AnchoredGlob {
  readonly base: string;
  readonly glob: string;
}

/** What a part of a pattern has that is not word for word. */
const MAGIC = /[*?[\]{}()!+@\\]/;

/** The same pattern from where the directories lead that it names word for word; none where that is the same place. */
function resolvedGlob({ base, glob }: AnchoredGlob, resolve: (path: string) => string): AnchoredGlob[] {
  const parts = glob.replace(/\/$/, "").split("/");
  const magic = parts.findIndex((part) => MAGIC.test(part));
  const literal = magic < 0 ? parts.length : magic;
  const written = join(base, ...parts.slice(0, literal));
  let real: string;
  try {
    real = resolve(written);
  } catch {
    // Links that lead nowhere: nothing is reached by them either.
    return [];
  }
  if (real === written) return [];
  const rest = parts.slice(literal).join("/");
  return rest === ""
    ? [{ base: dirname(real), glob: basename(real).replace(/\W/g, "\\$&") }]
    : [{ base: real, glob: rest }];
}

/**
 * Where a pattern may start, as gitignore and users of settings files read it: `~/` at home, `//` at the file system's
 * root, `/` there or at the working directory, one without a slash at any depth of it, else at the working directory.
 */
function anchors(pattern: string, cwd: string, home: string | undefined): AnchoredGlob[] {
  if (pattern === "~" || pattern.startsWith("~/")) {
    return home === undefined ? [] : [{ base: home, glob: pattern.slice(2) || "**" }];
  }
  if (pattern.startsWith("//")) return [{ base: "/", glob: pattern.slice(2) }];
  if (pattern.startsWith("/")) {
    return [
      { base: "/", glob: pattern.slice(1) },
      { base: cwd, glob: pattern.slice(1) },
    ];
  }
  const parents = /^(?:\.\.?\/)+/.exec(pattern)?.[0] ?? "";
  const glob = pattern.slice(parents.length);
  const anyDepth = parents === "" && !glob.replace(/\/$/, "").includes("/");
  return [{ base: resolve(cwd, parents), glob: anyDepth ? `**/${glob}` : glob }];
}

/** As in gitignore, what matches a directory holds for everything below it. */
function pathMatches({ base, glob }: AnchoredGlob, path: string, nocase: boolean): boolean {
  if (!isInside(path, base)) return false;
  const way = relative(base, path);
  return (
    globMatches(glob, way, nocase) ||
    (nocase && !isAscii(glob + way) && globMatches(foldedName(glob), foldedName(way), nocase))
  );
}

function globMatches(glob: string, way: string, refuses: boolean): boolean {
  const parts = way.split(sep);
  const matches = (): boolean => {
    const matcher = picomatch(glob.replace(/\/$/, ""), { dot: true, nocase: refuses });
    return parts.some((_, depth) => matcher(join(...parts.slice(0, depth + 1))));
  };
  if (!mayBeSlow(glob)) return matches();
  // What cannot be decided refuses, and allows nothing.
  return withTimeLimit(glob, matches) ?? refuses;
}

/** Whether there may be a name that a pattern takes for ever: of one with many stars, or with choices. */
function mayBeSlow(glob: string): boolean {
  const special = glob.replace(/\\./g, "");
  return /[({]/.test(special) || special.split(/\*+/).length > MAX_FAST_STARS + 1;
}

/** Stars of a pattern that takes every name in no time. */
const MAX_FAST_STARS = 2;
/** Milliseconds for one path: an honest pattern takes a thousandth of it, and a busy machine some part. */
const MATCH_MS = 1_000;
/** Tries, since a machine may sleep during one; then the pattern is not tried again. */
const MAX_TRIES = 2;
/** Patterns that took longer; once there are so many, no further one is tried that may. */
const MAX_SLOW_PATTERNS = 5;
const slowPatterns = new Set<string>();
let timeLimited: ReturnType<typeof timeLimit> | undefined;

/** @returns undefined for a pattern that takes too long */
function withTimeLimit(glob: string, matches: () => boolean): boolean | undefined {
  if (slowPatterns.has(glob) || slowPatterns.size === MAX_SLOW_PATTERNS) return undefined;
  timeLimited ??= timeLimit(MATCH_MS);
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    try {
      return timeLimited(matches);
    } catch {
      // Too late, or no pattern at all, which is no other at the next try.
    }
  }
  slowPatterns.add(glob);
  return undefined;
}

function isAscii(text: string): boolean {
  return /^\p{ASCII}*$/u.test(text);
}
