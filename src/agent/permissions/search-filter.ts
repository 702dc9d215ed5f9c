import { realPathOf } from "../../os/files/symlinks.ts";
import type { ToolAccess } from "../tool.ts";
import { isPrivateHost, plainHost } from "./host-rules.ts";
import { type PermissionQuestion, resolvePlaces } from "./question.ts";
import { allowance, coversWholeTool, NO_RULES, type RuleSubject, refusingRule } from "./rules.ts";

/** Returns a function that resolves links and caches each path. The many files of one search check the same rule paths. */
export function cachedResolver(): (path: string) => string {
  const known = new Map<string, string>();
  return (path) => {
    const real = known.get(path) ?? realPathOf(path);
    known.set(path, real);
    return real;
  };
}

/**
 * Returns whether a deny or ask rule covers a file that a search found. The permission question of the search names only the
 * directory, so each found file is checked before a model sees it.
 */
export function isExcludedFromSearch(
  path: string,
  question: Pick<PermissionQuestion, "tool" | "rules" | "workingDirs" | "home" | "resolve">,
): boolean {
  const { tool, rules, home, resolve = realPathOf } = question;
  const refusals = [...rules.deny, ...rules.ask];
  if (refusals.length === 0) return false;
  const access: ToolAccess = { kind: "read", paths: [path] };
  const { paths, dirs } = resolvePlaces({ ...question, mode: "default", access });
  const subject = { tool, access, realPaths: paths, cwd: dirs[0] ?? "/", home, resolve };
  return refusingRule(refusals, subject) !== undefined;
}

/**
 * Returns whether a deny or ask rule covers a file that is loaded into a model's prompt (notes with their imports, skills). A
 * rule for the whole Read tool does not count.
 */
export function isReadDenied(
  path: string,
  { rules, ...question }: Pick<PermissionQuestion, "rules" | "workingDirs" | "home" | "resolve">,
): boolean {
  const isAboutFiles = (rule: string): boolean => !coversWholeTool(rule, { name: "Read" });
  const deny = [...rules.deny, ...rules.ask].filter(isAboutFiles);
  return isExcludedFromSearch(path, { ...question, tool: "Read", rules: { ...NO_RULES, deny } });
}

/**
 * Returns whether an allowed call may connect to this address of its host. A private address needs its own rule if the host is a
 * public name, because the owner of a name decides where it leads.
 */
export function mayConnect(
  address: string,
  {
    mode,
    tool,
    access,
    rules,
    home,
  }: Pick<PermissionQuestion, "mode" | "tool" | "access" | "rules" | "home">,
): boolean {
  const subject: RuleSubject = {
    tool,
    access: { kind: "host", host: plainHost(address) },
    realPaths: [],
    cwd: "/",
    home,
  };
  if (refusingRule(rules.deny, subject) !== undefined) return false;
  if (mode === "bypassPermissions" || !isPrivateHost(address)) return true;
  return (access.kind === "host" && isPrivateHost(access.host)) || "rules" in allowance(rules.allow, subject);
}
