import { realPathOf } from "../../os/files/symlinks.ts";
import type { PermissionMode } from "../../schema/permission-modes.ts";
import { type Allowance, type Uncovered, uncoveredReason } from "./command-allowance.ts";
import { changesDirectory } from "./commands/command-starts.ts";
import { MAX_READ, MAX_READ_DIRS, MAX_REDIRECTIONS } from "./commands/line-limits.ts";
import { realOf } from "./commands/path-list.ts";
import { namedProgram } from "./denied-names.ts";
import { laterCommand } from "./files/later-commands.ts";
import { PatternMatches } from "./files/patterns.ts";
import { isPrivateHost } from "./host-rules.ts";
import { excessRefusal, lineRefusal } from "./line-guards.ts";
import { namedByLine } from "./line-paths.ts";
import { actsElsewhere, entersElsewhere } from "./other-repositories.ts";
import { asksOutside, outsideDecision, outsideQuestion } from "./outside-sandbox.ts";
import { protectedByName, reservedReason, unknownTarget, writesElsewhere } from "./protected-calls.ts";
import { expandsToOption, listWithCreated } from "./protected-patterns.ts";
import {
  areInside,
  type PermissionDecision,
  type PermissionQuestion,
  type Places,
  readableReason,
  resolvePlaces,
  touchesOwnNotes,
  writesPlan,
} from "./question.ts";
import { pathsOfReadingLine, withoutWrites } from "./reading-lines.ts";
import { allowance, malformedRuleNote, type RuleSubject, refusingRule } from "./rules.ts";
import type { ShellLine } from "./shell-line.ts";

/**
 * Decides whether a call may run, in this order: deny rules, the files that the agent may write, the mode's denials, ask rules,
 * protected paths, allow rules, what the mode allows, else ask (protocol.md section 6). Each redirection of a command is decided
 * as a read or a write of its file. Pure except for the functions of the question, which read the file system.
 */
export function decidePermission(question: PermissionQuestion): PermissionDecision {
  return asksOutside(question.access)
    ? outsideDecision(decideCall(outsideQuestion(question)))
    : decideCall(question);
}

function decideCall(question: PermissionQuestion): PermissionDecision {
  const { decision, isWholeTool } = decidePart(question);
  const all = [decision, ...redirections(question, isWholeTool).map((file) => decidePart(file).decision)];
  const strictest =
    all.find(({ behavior }) => behavior === "deny") ??
    all.find(({ guarded }) => guarded) ??
    all.find(({ behavior }) => behavior === "ask");
  return strictest === undefined ? decision : denyInDontAskMode(strictest, question.mode);
}

function denyInDontAskMode(decision: PermissionDecision, mode: PermissionMode): PermissionDecision {
  return decision.behavior === "ask" && mode === "dontAsk"
    ? deny(`dontAsk mode denies this call instead of asking. ${decision.reason}`)
    : decision;
}

/** Returns where the paths of a call lead now: its own, and the paths that its command names or redirects from or to. */
export function leadsTo(question: PermissionQuestion): readonly string[] {
  const resolve = question.resolve ?? realPathOf;
  return [
    ...[question, ...redirections(question, false)].flatMap((part) => resolvePlaces(part).paths),
    ...namedByLine(question).map((path) => realOf(path, resolve)),
  ];
}

/**
 * Returns a separate question for each file that a command redirects from or to. An allow rule for certain commands covers only
 * files inside the working directories. A rule for the whole tool covers every file that no other rule and no protection excludes.
 */
function redirections(question: PermissionQuestion, isWholeTool: boolean): PermissionQuestion[] {
  const { rules, home = "~" } = question;
  const allow = isWholeTool ? [...rules.allow, "Read", "Write"] : rules.allow;
  const mode = question.mode === "bypassPermissions" ? question.mode : "acceptEdits";
  const { line } = question;
  const all = [...(line?.files ?? []), ...(line?.anywhere.files ?? [])];
  const files = new Map(all.map((file) => [`${file.kind} ${file.path}`, file]));
  return [...files.values()].slice(0, MAX_REDIRECTIONS).map(({ kind, path }) => {
    // Not normalized: `link/..` need not be the directory of the link.
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

interface PartDecision {
  readonly decision: PermissionDecision;
  /** A rule allows the tool with every input. */
  readonly isWholeTool: boolean;
}

function decidePart(question: PermissionQuestion): PartDecision {
  const { mode, tool, served, access, line, rules } = question;
  const resolved = resolvePlaces(question);
  const subject: RuleSubject = {
    tool,
    served,
    access,
    line,
    realPaths: resolved.paths,
    cwd: resolved.dirs[0] ?? "/",
    home: question.home,
    resolve: question.resolve ?? realPathOf,
    expandsToOption: expandsToOption(question),
    actsElsewhere: (words, isWide) => actsElsewhere(question, words, isWide),
    entersElsewhere: () => entersElsewhere(question),
    needsNoRule: readsOnlyHere(question),
  };
  const part = (decision: PermissionDecision): PartDecision => ({ decision, isWholeTool: false });
  const reading = access.kind === "command" ? decideReadOnlyLine(question) : undefined;
  const refused = refusal(question, subject, resolved, reading !== undefined && reading.behavior !== "deny");
  if (refused !== undefined) return part(refused);
  if (access.kind === "team" && access.cli === undefined)
    return part(allow("The call acts only on the team."));
  if (mode === "bypassPermissions") return part(allow("bypassPermissions mode allows it."));
  if (resolved.failure !== undefined)
    return part(ask(`The links of ${resolved.failure} cannot be resolved.`));
  if (touchesOwnNotes(question, resolved)) return part(allow("The call uses the agent's own notes."));
  const guard = guardReason(question, resolved);
  if (guard !== undefined) return part(askGuarded(guard));
  const allowed = allowance(rules.allow, subject);
  if ("missing" in allowed) {
    const isReader = mode === "plan" || reading?.behavior === "allow";
    // Its redirections are decided separately, as Write calls.
    const printing = mode === "acceptEdits" ? decideReadOnlyLine(withoutWrites(question)) : undefined;
    const printed = printing?.behavior === "allow" ? allow("Only its redirections write files.") : undefined;
    return part((isReader ? reading : printed) ?? allowedByMode(question, resolved, allowed));
  }
  return allowedByRules(allowed, line);
}

function allowedByRules(
  { rules, whole }: Exclude<Allowance, Uncovered>,
  line: ShellLine | undefined,
): PartDecision {
  // A rule for the whole tool does not allow a command that makes other commands run later: a narrower rule must name it.
  const later = whole && line !== undefined ? laterCommand(line.anywhere) : undefined;
  if (later !== undefined) return { decision: askGuarded(later), isWholeTool: false };
  const [subject, verb] = rules.length === 1 ? ["The rule", "allows"] : ["The rules", "allow"];
  return { decision: allow(`${subject} ${rules.join(", ")} ${verb} it.`), isWholeTool: whole };
}

/** Returns why only a person can allow a call, whatever rule covers it. */
function guardReason(question: PermissionQuestion, resolved: Places): string | undefined {
  const excess = question.line?.anywhere.excess;
  if (excess !== undefined) return `The command cannot be checked: ${excess}.`;
  return protectedByName(question, resolved) ?? reservedReason(question, resolved);
}

/**
 * Returns the decision of the deny rules, the allowed writes, the mode's denials or the ask rules, in this order; undefined if none
 * of them decides.
 */
function refusal(
  question: PermissionQuestion,
  subject: RuleSubject,
  resolved: Places,
  readsOnly: boolean,
): PermissionDecision | undefined {
  const { rules, access } = question;
  const excess = excessRefusal(rules.deny, question);
  if (excess !== undefined) return deny(excess);
  const denied = refusingRule(rules.deny, subject);
  if (denied !== undefined) return deny(`The rule ${denied} denies it.${malformedRuleNote(denied)}`);
  const elsewhere = writesElsewhere(question, resolved);
  if (elsewhere !== undefined) return deny(elsewhere);
  const refusedLine = lineRefusal(rules.deny, question, subject);
  if (refusedLine !== undefined) return deny(refusedLine);
  const refused = access.kind === "team" ? undefined : deniedByMode(question, resolved, readsOnly);
  if (refused !== undefined) return refused;
  const asksForLine = excessRefusal(rules.ask, question);
  if (asksForLine !== undefined) return askGuarded(asksForLine);
  const asked = refusingRule(rules.ask, subject);
  if (asked !== undefined)
    return askGuarded(`The rule ${asked} requires approval.${malformedRuleNote(asked)}`);
  const asksForPart =
    lineRefusal(rules.ask, question, subject) ?? unknownTarget(question) ?? namedProgram(question, subject);
  return asksForPart === undefined ? undefined : askGuarded(asksForPart);
}

/**
 * Returns a predicate that is true for a command of the line that only reads, in every directory that the line enters. The
 * directories that its patterns list must be readable, too.
 */
function readsOnlyHere(question: PermissionQuestion): (words: readonly string[]) => boolean {
  const { line } = question;
  // The name of a reader may be an alias or a function of the line.
  if (line === undefined || line.anywhere.isRedefining) return () => false;
  const matches = new PatternMatches(line.patterns, listWithCreated(question));
  const entering = line.commands.filter(changesDirectory).slice(0, MAX_READ_DIRS);
  let left = MAX_READ;
  return (words) => {
    if (/^(?:cd|git)$/.test(words[0] ?? "") && entersElsewhere(question) !== undefined) return false;
    const own = { ...question, line: { ...line, commands: [...entering, words], files: [] } };
    const paths = left < 0 ? undefined : pathsOfReadingLine(own, matches);
    left -= paths?.length ?? 0;
    return paths !== undefined && left >= 0 && readDecision(question, paths).behavior === "allow";
  };
}

/** Decides a line whose commands only read, as a read of their files; undefined for every other line. */
function decideReadOnlyLine(question: PermissionQuestion): PermissionDecision | undefined {
  const paths = pathsOfReadingLine(question);
  return paths === undefined ? undefined : readDecision(question, paths);
}

function readDecision(question: PermissionQuestion, paths: readonly string[]): PermissionDecision {
  const access = { kind: "read", paths } as const;
  const { decision } = decidePart({ ...question, tool: "Read", access, line: undefined });
  return decision.behavior === "allow" ? allow("The command only reads files that may be read.") : decision;
}

/**
 * Combines a decision with the decision of a hook. A hook can restrict every call. It can allow a call only if the mode alone
 * would ask, never if a rule denies it or asks for it (protocol.md section 7).
 */
export function applyHook(
  decision: PermissionDecision,
  hook: Omit<PermissionDecision, "guarded"> | undefined,
  mode: PermissionMode,
): PermissionDecision {
  if (hook === undefined || decision.behavior === "deny") return decision;
  if (hook.behavior === "deny") return deny(`A hook denies it: ${hook.reason}`);
  if (hook.behavior === "ask") {
    return decision.behavior === "ask"
      ? decision
      : denyInDontAskMode(askGuarded(`A hook asks: ${hook.reason}`), mode);
  }
  return decision.behavior === "ask" && decision.guarded
    ? decision
    : allow(`A hook allows it: ${hook.reason}`);
}

/** Returns the mode's denial, which no rule can lift; undefined if the mode does not deny the call. */
function deniedByMode(
  question: PermissionQuestion,
  resolved: Places,
  readsOnly: boolean,
): PermissionDecision | undefined {
  const { mode, access, coordinator = false } = question;
  if (mode === "delegate" && coordinator) {
    return deny("In delegate mode, the lead only coordinates. Give this work to a teammate.");
  }
  const reads = readsOnly || access.kind === "read" || access.kind === "host";
  if (mode !== "plan" || reads || writesPlan(question, resolved)) return undefined;
  return deny(
    access.kind === "command"
      ? "In plan mode, only read-only commands may run, such as git log and grep. Ask for approval of the plan first."
      : "In plan mode, an agent may only read files and write its plan file. Ask for approval of the plan first.",
  );
}

function allowedByMode(
  question: PermissionQuestion,
  resolved: Places,
  uncovered: Uncovered,
): PermissionDecision {
  const { mode, access, line, tool } = question;
  const inside = areInside(resolved.paths, resolved.dirs);
  const readable = access.kind === "read" ? readableReason(resolved) : undefined;
  if (readable !== undefined) return allow(readable);
  if (mode === "plan" && writesPlan(question, resolved)) return allow("The call writes the plan file.");
  if (mode === "acceptEdits" && access.kind === "write" && inside) {
    return allow("The call writes inside the working directories.");
  }
  if (access.kind === "command") {
    if (line?.unclear !== undefined)
      return ask(`No rule with a pattern can allow this command: ${line.unclear}.`);
    return ask(uncoveredReason(uncovered));
  }
  if (access.kind === "host") {
    return ask(
      isPrivateHost(access.host)
        ? `No rule names ${access.host}, which is this machine or on its network.`
        : `No rule allows ${access.host}.`,
    );
  }
  if (access.kind === "external") return ask(`No rule allows ${tool}.`);
  if (access.kind === "team")
    return ask(`No rule allows starting ${access.cli}, which may read files and more without asking.`);
  return ask(
    inside
      ? `No rule allows ${tool} here.`
      : `${resolved.paths.join(", ")} is outside the working directories.`,
  );
}

const allow = (reason: string): PermissionDecision => ({ behavior: "allow", reason });
const deny = (reason: string): PermissionDecision => ({ behavior: "deny", reason });
const ask = (reason: string): PermissionDecision => ({ behavior: "ask", reason });
const askGuarded = (reason: string): PermissionDecision => ({ ...ask(reason), guarded: true });
