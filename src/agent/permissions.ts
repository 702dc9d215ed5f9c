import { realPathOf } from "../os/fs.ts";
import type { PermissionMode } from "../schema/permission-modes.ts";
import { isPrivateHost, plainHost } from "./host-rules.ts";
import {
  allowance,
  isAboutAll,
  NO_RULES,
  type PermissionRules,
  type RuleSubject,
  refusingRule,
} from "./permission-rules.ts";
import { areNotes, isInside, whyProtected } from "./protected-paths.ts";
import type { ShellLine } from "./shell-line.ts";
import type { ToolAccess } from "./tools/tool.ts";

export interface PermissionQuestion {
  readonly mode: PermissionMode;
  readonly tool: string;
  /** Whose it is, of a server's tool. */
  readonly served?: RuleSubject["served"];
  /** Paths are absolute. */
  readonly access: ToolAccess;
  /** The command of the access, read: without it only a rule without a pattern allows one. */
  readonly line?: ShellLine | undefined;
  readonly rules: PermissionRules;
  /** The first is where relative patterns start. */
  readonly workingDirs: readonly string[];
  /** Directories that may be read besides: what the agent's own commands printed, the user's skills. */
  readonly readDirs?: readonly string[] | undefined;
  /** The one file that may be written in plan mode. */
  readonly planFile?: string | undefined;
  /** Directories whose files nothing but a person lets change: the root. */
  readonly protectedDirs?: readonly string[] | undefined;
  /** The directory of its own notes, with every link resolved as it was found: a link that comes later leads out of it. */
  readonly notes?: string | undefined;
  readonly home?: string | undefined;
  /** Whether this agent only coordinates in delegate mode (the lead does, a teammate asks). */
  readonly coordinator?: boolean | undefined;
  /** Resolves the links of a path. */
  readonly resolve?: (path: string) => string;
}

export interface PermissionDecision {
  readonly behavior: "allow" | "deny" | "ask";
  /** It asks on account of a rule, or of what it would change: only a person's yes to this very call counts, and no hook's. */
  readonly guarded?: true;
  /** One sentence for the person or model that reads it. */
  readonly reason: string;
}

/**
 * May this call run? Pure but for `resolve`: deny rules in every mode, then the mode's own refusals, ask rules,
 * protected paths, allow rules, the mode's allowances, else ask (protocol.md section 6). What a command redirects to is
 * decided on like a file that is read or written.
 */
export function decide(question: PermissionQuestion): PermissionDecision {
  const { decision, whole } = decideOpen(question);
  const all = [decision, ...redirections(question, whole).map((file) => decideOpen(file).decision)];
  const strictest =
    all.find(({ behavior }) => behavior === "deny") ??
    all.find(({ guarded }) => guarded) ??
    all.find(({ behavior }) => behavior === "ask");
  if (strictest === undefined) return decision;
  return strictest.behavior === "ask" && question.mode === "dontAsk"
    ? deny(`${strictest.reason} In dontAsk mode that is a refusal.`)
    : strictest;
}

/** Where what a call names leads now: its files, and those that its command redirects from and to. */
export function placesOf(question: PermissionQuestion): readonly string[] {
  return [question, ...redirections(question, false)].flatMap((part) => resolveAll(part).paths);
}

/**
 * The files that a command redirects from and to, as questions of their own. A rule for certain commands covers what is inside
 * of the working directories, one for the tool itself all that no other rule and no protection withholds.
 */
function redirections(question: PermissionQuestion, whole: boolean): PermissionQuestion[] {
  const { rules, home = "~" } = question;
  const allow = whole ? [...rules.allow, "Read", "Write"] : rules.allow;
  const mode = question.mode === "bypassPermissions" ? question.mode : "acceptEdits";
  return (question.line?.files ?? []).map(({ kind, path }) => {
    // As it is written: `link/..` is not what stands in front of the link.
    const from = path.startsWith("/") ? "" : `${path.startsWith("~/") ? home : question.workingDirs[0]}/`;
    const absolute = `${from}${path.replace(/^~\//, "")}`;
    const tool = kind === "read" ? "Read" : "Write";
    return {
      ...question,
      mode,
      tool,
      access: { kind, paths: [absolute] },
      line: undefined,
      rules: { ...rules, allow },
    };
  });
}

interface OpenDecision {
  readonly decision: PermissionDecision;
  /** The tool itself is allowed, whatever it is called with. */
  readonly whole: boolean;
}

function decideOpen(question: PermissionQuestion): OpenDecision {
  const { mode, tool, served, access, line, rules } = question;
  const resolved = resolveAll(question);
  const subject: RuleSubject = {
    tool,
    served,
    access,
    line,
    realPaths: resolved.paths,
    cwd: resolved.dirs[0] ?? "/",
    home: question.home,
    resolve: question.resolve ?? realPathOf,
  };
  const part = (decision: PermissionDecision): OpenDecision => ({ decision, whole: false });
  const denied = refusingRule(rules.deny, subject);
  if (denied !== undefined) return part(deny(`The rule ${denied} denies it.`));
  const isTeams = access.kind === "team";
  const refused = isTeams ? undefined : refusedByMode(question, resolved);
  if (refused !== undefined) return part(refused);
  const asked = refusingRule(rules.ask, subject);
  if (asked !== undefined) return part(guard(`The rule ${asked} asks first.`));
  if (isTeams) return part(allow("It acts only on the team."));
  if (mode === "bypassPermissions") return part(allow("bypassPermissions mode asks for nothing."));
  if (resolved.failure !== undefined) return part(ask(`${resolved.failure} cannot be resolved.`));
  if (isOwnNote(question, resolved)) return part(allow("It keeps its notes."));
  if (access.kind === "write" && !isThePlan(question, resolved)) {
    // By either name: what a link is called may be what a program reads.
    const names = [...access.paths, ...resolved.paths];
    for (const path of names) {
      const why = whyProtected(path, resolved.protectedDirs);
      if (why !== undefined) return part(guard(`${path} ${why}.`));
    }
  }
  const allowed = allowance(rules.allow, subject);
  if ("missing" in allowed) return part(allowedByMode(question, resolved, allowed.missing));
  const named = allowed.rules.length === 1 ? "The rule" : "The rules";
  const verb = allowed.rules.length === 1 ? "allows" : "allow";
  return {
    decision: allow(`${named} ${allowed.rules.join(", ")} ${verb} it.`),
    whole: allowed.whole,
  };
}

/**
 * The decision together with what a hook said of the call: a hook can take away, and can give what nothing but the mode asks
 * for; never what a rule denies, or asks for itself (protocol.md section 7).
 */
export function withHook(
  decision: PermissionDecision,
  said: Omit<PermissionDecision, "guarded"> | undefined,
): PermissionDecision {
  if (said === undefined || decision.behavior === "deny") return decision;
  if (said.behavior === "deny") return deny(`A hook denies it: ${said.reason}`);
  if (said.behavior === "ask")
    return decision.behavior === "ask" ? decision : guard(`A hook asks: ${said.reason}`);
  return decision.behavior === "ask" && decision.guarded
    ? decision
    : allow(`A hook allows it: ${said.reason}`);
}

/** Resolves links, each path once: for the many finds of one search, whose rules name the same places. */
export function resolvingOnce(): (path: string) => string {
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
export function isWithheld(
  path: string,
  question: Pick<PermissionQuestion, "tool" | "rules" | "workingDirs" | "home" | "resolve">,
): boolean {
  const { tool, rules, home, resolve = realPathOf } = question;
  const refusals = [...rules.deny, ...rules.ask];
  if (refusals.length === 0) return false;
  const access: ToolAccess = { kind: "read", paths: [path] };
  const { paths, dirs } = resolveAll({ ...question, mode: "default", access });
  const subject = { tool, access, realPaths: paths, cwd: dirs[0] ?? "/", home, resolve };
  return refusingRule(refusals, subject) !== undefined;
}

/**
 * The same of a file that a model is told before any call (notes and what they bring in, skills): a rule about a tool as a whole
 * is not about it.
 */
export function isKeptBack(
  path: string,
  { rules, ...question }: Pick<PermissionQuestion, "rules" | "workingDirs" | "home" | "resolve">,
): boolean {
  const isAboutFiles = (rule: string): boolean => !isAboutAll(rule, { name: "Read" });
  const deny = [...rules.deny, ...rules.ask].filter(isAboutFiles);
  return isWithheld(path, { ...question, tool: "Read", rules: { ...NO_RULES, deny } });
}

/**
 * Whether an allowed call may reach its host at this address, to which the host's name leads: one of no public network needs a
 * rule of its own where the host does not say itself that it is one, since whoever owns a name says where it leads.
 */
export function mayReach(
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

/** Characters of a command that a reason repeats. */
const MAX_SHOWN = 80;

interface Resolved {
  readonly paths: readonly string[];
  readonly dirs: readonly string[];
  readonly readDirs: readonly string[];
  readonly protectedDirs: readonly string[];
  readonly planFile: string | undefined;
  /** A path whose links could not be followed. */
  readonly failure?: string;
}

function resolveAll(question: PermissionQuestion): Resolved {
  const { access, resolve = realPathOf } = question;
  const written = access.kind === "read" || access.kind === "write" ? access.paths : [];
  let failure: string | undefined;
  const real = (path: string): string => {
    try {
      return resolve(path);
    } catch {
      // A loop of links or a directory that may not be looked into: nothing is allowed on its account.
      failure ??= path;
      return path;
    }
  };
  const dirs = question.workingDirs.map(real);
  const readDirs = (question.readDirs ?? []).map(real);
  const protectedDirs = (question.protectedDirs ?? []).map(real);
  const planFile = question.planFile === undefined ? undefined : real(question.planFile);
  failure = undefined;
  const paths = written.map(real);
  return { paths, dirs, readDirs, protectedDirs, planFile, ...(failure === undefined ? {} : { failure }) };
}

/** What a mode refuses whatever a rule allows. */
function refusedByMode(question: PermissionQuestion, resolved: Resolved): PermissionDecision | undefined {
  const { mode, access, coordinator = false } = question;
  if (mode === "delegate" && coordinator) {
    return deny("In delegate mode the lead only coordinates; give this to a teammate.");
  }
  const reads = access.kind === "read" || access.kind === "host";
  if (mode !== "plan" || reads || isThePlan(question, resolved)) return undefined;
  return deny("In plan mode only the plan file is written and nothing is run; ask for approval first.");
}

function allowedByMode(
  question: PermissionQuestion,
  resolved: Resolved,
  missing: string | undefined,
): PermissionDecision {
  const { mode, access, line, tool } = question;
  const inside = areInside(resolved.paths, resolved.dirs);
  const readable = access.kind === "read" ? whyReadable(resolved) : undefined;
  if (readable !== undefined) return allow(readable);
  if (mode === "plan" && isThePlan(question, resolved)) return allow("It writes the plan.");
  if (mode === "acceptEdits" && access.kind === "write" && inside) {
    return allow("It writes inside the working directories.");
  }
  if (access.kind === "command") {
    if (line?.unclear !== undefined) return ask(`No rule can allow it: ${line.unclear}.`);
    const shown = missing === undefined || missing.length > MAX_SHOWN ? "this command" : missing;
    return ask(`No rule allows ${shown}.`);
  }
  if (access.kind === "host") {
    return ask(
      isPrivateHost(access.host)
        ? `No rule names ${access.host}, which is this machine or on its network.`
        : `No rule allows ${access.host}.`,
    );
  }
  if (access.kind === "external") return ask(`No rule allows ${tool}.`);
  return ask(
    inside
      ? `No rule allows ${tool} here.`
      : `${resolved.paths.join(", ")} is outside of the working directories.`,
  );
}

/** Why files may be read in every mode; undefined where they may not. */
function whyReadable({ paths, dirs, readDirs, planFile }: Resolved): string | undefined {
  if (areInside(paths, dirs)) return "It reads inside the working directories.";
  if (areInside(paths, readDirs)) return "It reads what is there for it to read.";
  return planFile !== undefined && areInside(paths, [planFile]) ? "It reads its plan." : undefined;
}

function areInside(paths: readonly string[], directories: readonly string[]): boolean {
  return (
    paths.length > 0 && paths.every((path) => directories.some((directory) => isInside(path, directory)))
  );
}

function isOwnNote({ access, notes }: PermissionQuestion, { paths }: Resolved): boolean {
  return (access.kind === "read" || access.kind === "write") && notes !== undefined && areNotes(paths, notes);
}

function isThePlan({ access, mode }: PermissionQuestion, { paths, planFile }: Resolved): boolean {
  return (
    mode === "plan" &&
    access.kind === "write" &&
    planFile !== undefined &&
    paths.length === 1 &&
    paths[0] === planFile
  );
}

const allow = (reason: string): PermissionDecision => ({ behavior: "allow", reason });
const deny = (reason: string): PermissionDecision => ({ behavior: "deny", reason });
const ask = (reason: string): PermissionDecision => ({ behavior: "ask", reason });
const guard = (reason: string): PermissionDecision => ({ ...ask(reason), guarded: true });
