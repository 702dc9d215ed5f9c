import { TeamError } from "../../errors.ts";
import { MAX_PATTERN, MAX_PATTERNS } from "./task-fields.ts";

/**
 * Returns patterns in their usual form: without `./` at the start.
 * @throws TeamError INVALID_INPUT for a pattern that names no files of the project
 */
export function parseTouches(given: readonly string[]): string[] {
  const patterns = plainPatterns(given);
  if (patterns.length > MAX_PATTERNS) {
    throw new TeamError(
      "INVALID_INPUT",
      `A task can have at most ${MAX_PATTERNS} patterns of files; nothing was done.`,
      {
        hint: "Use wider patterns: src/api/**",
      },
    );
  }
  for (const pattern of patterns) {
    const problem = patternProblem(pattern);
    if (problem === undefined) continue;
    throw new TeamError(
      "INVALID_INPUT",
      `${JSON.stringify(pattern)} is not a valid pattern for touches: ${problem}. Nothing was done.`,
      { hint: "Give paths relative to the project's directory, with *, **, ?, [a-z] or {a,b}: src/api/**" },
    );
  }
  return patterns;
}

/** Returns patterns in their usual form, each once. */
export function plainPatterns(given: readonly string[]): string[] {
  return [...new Set(given.map((one) => one.trim().replace(/^(\.\/)+/, "")))];
}

/** Returns why a pattern names no files of the project. */
export function patternProblem(pattern: string): string | undefined {
  if (pattern === "") return "it is empty";
  if (pattern.length > MAX_PATTERN) return `it is longer than ${MAX_PATTERN} characters`;
  if (/[\u0000-\u001f\u007f]/.test(pattern)) return "it contains control characters";
  if (pattern.startsWith("/") || pattern.startsWith("~")) return "it is not relative";
  if (pattern.split("/").includes("..")) return "it leaves the project's directory";
  if (pattern.startsWith("!") || /[!@+?*]\(/.test(pattern)) return "it uses ! or parentheses as operators";
  return undefined;
}
