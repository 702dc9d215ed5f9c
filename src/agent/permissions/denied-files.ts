import { realPathOf } from "../../os/files/symlinks.ts";
import type { ToolAccess } from "../tool.ts";
import { literalStarts } from "./path-rules.ts";
import { resolvePlaces } from "./question.ts";
import { NO_RULES, parseRule, refusingRule } from "./rules.ts";

/** Deny rules as statements about files, independent of a tool call: for the sandbox of commands. */
export interface FileDenial {
  /** The rules for certain files and their base directories, as one text to compare. */
  readonly rules: string;
  /** Paths that rules name, inside and outside the working directories; some may not exist. */
  readonly named: readonly string[];
  /** Returns `none` for a file that must not be read, `read` for a file that must not be written; undefined without a rule. */
  access(path: string): "none" | "read" | undefined;
}

const KINDS: Readonly<Record<string, "read" | "write">> = { read: "read", edit: "write", write: "write" };

/**
 * Returns what deny rules say about files; undefined if no rule is about certain files. Rules for a whole tool are about that tool,
 * and malformed rules refuse their tool.
 */
export function fileDenial(
  deny: readonly string[],
  { workingDirs, home }: { readonly workingDirs: readonly string[]; readonly home: string },
): FileDenial | undefined {
  const [cwd = "/"] = workingDirs;
  const found = deny.flatMap((rule) => {
    const { tool = "", pattern } = parseRule(rule) ?? {};
    const kind = KINDS[tool.toLowerCase()];
    return kind === undefined || pattern === undefined ? [] : [{ rule, kind, pattern }];
  });
  if (found.length === 0) return undefined;
  const isDenied = (path: string, kind: "read" | "write"): boolean => {
    const tool = kind === "read" ? "Read" : "Edit";
    const access: ToolAccess = { kind, paths: [path] };
    const rules = found.filter((one) => one.kind === kind).map(({ rule }) => rule);
    if (rules.length === 0) return false;
    const { paths, dirs } = resolvePlaces({ tool, access, mode: "default", workingDirs, rules: NO_RULES });
    const subject = { tool, access, realPaths: paths, cwd: dirs[0] ?? cwd, home, resolve: realPathOf };
    return refusingRule(rules, subject) !== undefined;
  };
  return {
    rules: JSON.stringify([found.map(({ rule }) => rule), workingDirs]),
    named: found.flatMap(({ pattern }) => literalStarts(pattern, cwd, home)),
    access: (path) => (isDenied(path, "read") ? "none" : isDenied(path, "write") ? "read" : undefined),
  };
}
