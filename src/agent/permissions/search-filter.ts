import { realPathOf } from "../../os/files/real-path.ts";
import type { ToolAccess } from "../tool.ts";
import { isPrivateHost, plainHost } from "./host-rules.ts";
import { type PermissionQuestion, resolvePlaces } from "./question.ts";
import { allowance, coversWholeTool, NO_RULES, type RuleSubject, refusingRule } from "./rules.ts";

/** Resolves links, each path once: for the many finds of one search, whose rules name the same places. */
export function cachedResolver(): (path: string) => string {
  const known = new Map<string, string>();
  return (path) => {
    const real = known.get(path) ?? realPathOf(path);
    known.set(path, real);
    return real;
  };
}

/**
 * Whether a deny or ask rule is about a file that a search came upon: the question for the search itself names only the
 * directory, so that each find is held against the rules for reading before a model sees it.
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
 * The same of a file that a model is told before any call (notes and what they bring in, skills): a rule about a tool as a whole
 * is not about it.
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
 * Whether an allowed call may reach its host at this address, to which the host's name leads: one of no public network needs a
 * rule of its own where the host does not say itself that it is one, since whoever owns a name says where it leads.
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
