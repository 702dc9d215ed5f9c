import { basename, dirname, join, relative, resolve, sep } from "node:path";
import picomatch from "picomatch";
import { timeLimit } from "../../os/time-limit.ts";
import { foldedName, isAscii } from "../../text/folded-name.ts";
import { pathPatternsMeet } from "./commands/pattern-meetings.ts";
import { isInside } from "./protected-paths.ts";

/**
 * Returns whether a pattern covers paths.
 * @param reach `every` for allow rules: all resolved paths must match. `any` for deny and ask rules: one match is enough, of a
 *   path as written or resolved, with the pattern as written or resolved. Case is then ignored, because many file systems
 *   ignore it.
 */
export function pathsMatch(
  pattern: string,
  written: readonly string[],
  { realPaths, cwd, home, resolve }: PathSubject,
  reach: "every" | "any",
): boolean {
  const nocase = reach === "any";
  const named = anchors(pattern, cwd, home, reach);
  const globs =
    nocase && resolve !== undefined
      ? [...named, ...named.flatMap((one) => resolvedGlob(one, resolve))]
      : named;
  const matches = (path: string): boolean => globs.some((glob) => pathMatches(glob, path, nocase));
  if (reach === "any") return [...written, ...realPaths].some(matches);
  return realPaths.length > 0 && realPaths.every(matches);
}

/** The call that path patterns are checked against. */
export interface PathSubject {
  /** Paths with every link resolved. */
  readonly realPaths: readonly string[];
  /** Base directory of relative patterns. */
  readonly cwd: string;
  readonly home: string | undefined;
  /** Resolves the links of a path. If undefined, the directories in patterns are not resolved. */
  readonly resolve?: ((path: string) => string) | undefined;
}

/** Returns whether a pattern in a command may match a file that the pattern of a deny or ask rule covers. */
export function patternsMeet(
  rule: string,
  written: string,
  subject: Omit<PathSubject, "realPaths">,
): boolean {
  const parts = written.split(sep);
  return partsOfRule(rule, subject).some((wanted) => pathPatternsMeet(parts, wanted));
}

/** Returns the parts of the pattern of a deny or ask rule, from the root, in each directory where it may start. */
export function partsOfRule(
  rule: string,
  { cwd, home, resolve }: Omit<PathSubject, "realPaths">,
): readonly (readonly string[])[] {
  const named = anchors(rule, cwd, home, "any");
  const globs =
    resolve === undefined ? named : [...named, ...named.flatMap((one) => resolvedGlob(one, resolve))];
  return globs.map(({ base, glob }) => [
    ...literalPath(base).split(sep),
    ...glob.replace(/\/$/, "").split("/"),
  ]);
}

/** Returns a pattern that matches this path only. */
function literalPath(path: string): string {
  return (path === "/" ? "" : path).replace(/[^\w/]/gu, "\\$&");
}

interface AnchoredGlob {
  readonly base: string;
  readonly glob: string;
}

/** Characters that make a path segment a glob. */
const MAGIC = /[*?[\]{}()!+@\\]/;

/**
 * Returns the literal path before the first glob segment of a deny or ask pattern, in each directory where the pattern may start;
 * empty if the pattern begins with a glob segment.
 */
export function literalStarts(pattern: string, cwd: string, home: string): string[] {
  return anchors(pattern, cwd, home, "any").flatMap(({ base, glob }) => {
    const literal = literalParts(glob);
    return literal.length === 0 ? [] : [join(base, ...literal)];
  });
}

function literalParts(glob: string): string[] {
  const parts = glob.replace(/\/$/, "").split("/");
  const magic = parts.findIndex((part) => MAGIC.test(part));
  return magic < 0 ? parts : parts.slice(0, magic);
}

/** Returns the pattern with its literal leading directories resolved; empty if resolving changes nothing. */
function resolvedGlob({ base, glob }: AnchoredGlob, resolve: (path: string) => string): AnchoredGlob[] {
  const parts = glob.replace(/\/$/, "").split("/");
  const literal = literalParts(glob);
  const written = join(base, ...literal);
  let real: string;
  try {
    real = resolve(written);
  } catch {
    // Unresolvable links: no file can be reached through them.
    return [];
  }
  if (real === written) return [];
  const rest = parts.slice(literal.length).join("/");
  return rest === ""
    ? [{ base: dirname(real), glob: basename(real).replace(/\W/g, "\\$&") }]
    : [{ base: real, glob: rest }];
}

/**
 * Returns the directories where a pattern may start, as in gitignore and in settings files: `~/` is home, `//` the root of the
 * file system, `/` the working directory, and for deny and ask rules that root too. A pattern without a slash matches at any depth
 * of the working directory, any other pattern starts there.
 */
function anchors(
  pattern: string,
  cwd: string,
  home: string | undefined,
  reach: "every" | "any",
): AnchoredGlob[] {
  if (pattern === "~" || pattern.startsWith("~/")) {
    return home === undefined ? [] : [{ base: home, glob: pattern.slice(2) || "**" }];
  }
  if (pattern.startsWith("//")) return [{ base: "/", glob: pattern.slice(2) }];
  if (pattern.startsWith("/")) {
    const glob = pattern.slice(1);
    // A deny rule for `/etc/passwd` means the file that its author sees there.
    return [{ base: cwd, glob }, ...(reach === "any" ? [{ base: "/", glob }] : [])];
  }
  const parents = /^(?:\.\.?\/)+/.exec(pattern)?.[0] ?? "";
  const glob = pattern.slice(parents.length);
  const anyDepth = parents === "" && !glob.replace(/\/$/, "").includes("/");
  return [{ base: resolve(cwd, parents), glob: anyDepth ? `**/${glob}` : glob }];
}

/** As in gitignore, a pattern that matches a directory covers everything below it. */
function pathMatches({ base, glob }: AnchoredGlob, path: string, nocase: boolean): boolean {
  if (!isInside(path, base)) return false;
  const relativePath = relative(base, path);
  return (
    globMatches(glob, relativePath, nocase) ||
    (nocase &&
      !isAscii(glob + relativePath) &&
      globMatches(foldedName(glob), foldedName(relativePath), nocase))
  );
}

function globMatches(glob: string, relativePath: string, refuses: boolean): boolean {
  const parts = relativePath.split(sep);
  const matches = (): boolean => {
    const matchers = matchersOf(glob, refuses);
    return parts.some((_, depth) => matchers.some((matcher) => matcher(join(...parts.slice(0, depth + 1)))));
  };
  if (!mayBeSlow(glob) && glob.length <= MAX_GLOB) return matches();
  // An undecided pattern counts as a match for deny and ask rules only.
  return withTimeLimit(glob, matches) ?? refuses;
}

type Matcher = (path: string) => boolean;
/** Cache of the matchers of each pattern: one rule is checked against many paths. */
const knownMatchers = new Map<string, readonly Matcher[]>();
const MAX_MATCHERS = 500;

function matchersOf(glob: string, refuses: boolean): readonly Matcher[] {
  const key = `${refuses} ${glob}`;
  const known = knownMatchers.get(key);
  if (known !== undefined) return known;
  const globs = refuses ? readingsOf(glob) : [glob];
  const matchers = globs.map((one) => picomatch(one.replace(/\/$/, ""), { dot: true, nocase: refuses }));
  if (knownMatchers.size >= MAX_MATCHERS) knownMatchers.clear();
  knownMatchers.set(key, matchers);
  return matchers;
}

/**
 * Returns the patterns that the author of a deny or ask rule may mean by one pattern: a file may be named `(auth)`, `[id]`, `a|b`
 * or `a\b`.
 */
function readingsOf(glob: string): readonly string[] {
  if (!/[^\w./*?~@%+=:, -]|[@+!?*]\(/u.test(glob)) return [glob];
  const quoted = (text: string): string => text.replace(/[^\w/]/gu, "\\$&");
  const groups = glob.replace(/(?<![@!+?*\\])\(([^()]*)\)/g, (_, inside: string) => `\\(${inside}\\)`);
  // The last two: without wildcards, and with stars as the only wildcards.
  return [
    ...new Set([
      glob,
      groups,
      quoted(glob),
      glob
        .split(/(\*+|\/)/)
        .map((part, i) => (i % 2 === 1 ? part : quoted(part)))
        .join(""),
    ]),
  ];
}

/** Returns whether a crafted name can make a pattern extremely slow: patterns with many stars or with alternatives. */
function mayBeSlow(glob: string): boolean {
  const special = glob.replace(/\\./g, "");
  return /[({]/.test(special) || special.split(/\*+/).length > MAX_FAST_STARS + 1;
}

/** Maximum length of a pattern that picomatch certainly accepts, even with each character quoted. */
const MAX_GLOB = 30_000;
/** Number of stars up to which every pattern is fast. */
const MAX_FAST_STARS = 2;
/** Time limit in milliseconds for one path: an ordinary pattern needs a thousandth of it, more on a busy machine. */
const MATCH_MS = 1_000;
/** Maximum attempts before a pattern counts as slow: the machine may have slept during the first. */
const MAX_ATTEMPTS = 2;
/** After this many slow patterns, every other pattern that may be slow counts as slow, without an attempt. */
const MAX_SLOW_PATTERNS = 5;
const slowPatterns = new Set<string>();
let timeLimited: ReturnType<typeof timeLimit> | undefined;

/** @returns undefined for a pattern that takes too long */
function withTimeLimit(glob: string, matches: () => boolean): boolean | undefined {
  if (slowPatterns.has(glob) || slowPatterns.size === MAX_SLOW_PATTERNS) return undefined;
  timeLimited ??= timeLimit(MATCH_MS);
  for (let attempts = 0; attempts < MAX_ATTEMPTS; attempts += 1) {
    try {
      return timeLimited(matches);
    } catch {
      // A timeout, or an invalid pattern, which fails again in the next attempt.
    }
  }
  slowPatterns.add(glob);
  return undefined;
}
