import { isSystemError, messageOf, systemRefusal, TeamError } from "../../errors.ts";
import { GitError, guardedGitEnv, isFetchRefused } from "../../git/git.ts";
import { requireLinkedWorktree } from "../../git/own-repository.ts";
import { gitDirectoriesOf } from "../../git/repository.ts";
import type { TeamMember } from "../../schema/config.ts";
import { readMetadata } from "../../schema/member-metadata.ts";
import type { AgentState } from "../../schema/status.ts";
import { memberWord } from "../../team/address-words.ts";
import { judgeLiveness } from "../../team/members/judge-liveness.ts";
import { judgeShown } from "../../team/members/judge-shown.ts";
import { type MemberRecords, memberRecords } from "../../team/members/member-records.ts";
import { shellWord } from "../../text/shell-quote.ts";
import { type OperationContext, requireLead } from "../context.ts";
import { isBetweenTurns } from "../processes/between-turns.ts";
import { withPresence } from "../processes/present-instances.ts";
import { withUnreportedTurn } from "../processes/unreported-turn.ts";
import { type AgentWork, allWork, requireWorktree, workOf } from "./agent-work.ts";
import type { Gate } from "./gate.ts";
import { type Landed, type LandingStep, landWorktree } from "./land-worktree.ts";
import { interrupted, whileLandingAlone } from "./landing-lock.ts";
import { recoverLanding } from "./landing-record.ts";
import { type ReturnedWork, returnWork } from "./return-work.ts";

/** The result for one agent. */
export interface LandReport {
  readonly agent: string;
  readonly outcome: "landed" | "nothing" | "conflict" | "gate-failed" | "refused";
  /** The branch; null if it is unknown. */
  readonly target: string | null;
  /** The target's new commit, the number of commits that it got, and the checkout whose files moved with it. */
  readonly commit: string | null;
  readonly commits: number;
  readonly checkout: string | null;
  /** Why it has not landed, and what to do next. */
  readonly reason: string | null;
  readonly hint: string | null;
  /** The end of the output of git or of the gate. */
  readonly output: string | null;
  /** The task that is open again, and whether its agent got a message. */
  readonly taskId: string | null;
  readonly notified: boolean;
}

export interface LandOptions {
  /** The branch to land on; by default the one from which each worktree was created. */
  readonly onto?: string | undefined;
  /** Without it, work lands unchecked. */
  readonly gate?: Gate | undefined;
  /** Ends the gate, or the wait for another landing. */
  readonly signal: AbortSignal;
  /** Called before a step that may take a while. @param pid for `waits`, the process that is landing now */
  readonly onStep?: (agent: string, step: LandingStep, pid?: number) => void;
}

/** States in which an agent begins or ends its work, or may begin it at any moment. */
const MAY_BEGIN: ReadonlySet<AgentState> = new Set(["starting", "awaiting-approval", "stopping"]);

/**
 * Lands the work of agents, one after the other: rebases it in its worktree, runs the gate, and moves the target branch. The failure of one
 * agent does not stop the others. Idempotent: repeated after a kill at any step, it continues.
 * @param names by default all agents with a worktree, in the order in which they joined; an agent whose turns teams cannot see lands
 * only by its name
 * @throws TeamError AGENT_NOT_FOUND or INVALID_INPUT for a wrong name, NOT_LEAD; nothing is landed then. INTERRUPTED
 */
export async function landWork(
  ctx: OperationContext,
  names: readonly string[],
  options: LandOptions,
): Promise<readonly LandReport[]> {
  requireLead(ctx, "land work");
  const named = names.map((name) => workOf(ctx.ref, name));
  for (const work of named) requireWorktree(work);
  const isNamed = names.length > 0;
  const works = isNamed ? named : allWork(ctx.ref).filter(({ worktree }) => worktree !== undefined);
  const reports: LandReport[] = [];
  try {
    for (const work of works) reports.push(await landOne(ctx, work, isNamed, options));
  } catch (error) {
    throw withLanded(error, reports);
  }
  return reports;
}

/** Adds to an error what landed before it. An error that is a bug of teams stays as it is. */
function withLanded(error: unknown, reports: readonly LandReport[]): unknown {
  const landed = reports.filter(({ outcome }) => outcome === "landed").map(({ agent }) => agent);
  if (landed.length === 0) return error;
  const before = `Already landed: ${landed.join(", ")}.`;
  const known = isSystemError(error) ? systemRefusal(error) : error;
  if (!(known instanceof TeamError)) return error;
  const { code, message, hint, details, cause } = known;
  const options = { ...(hint && { hint }), details: { ...details, landed }, cause };
  return new TeamError(code, `${message} ${before}`, options);
}

async function landOne(
  ctx: OperationContext,
  work: AgentWork,
  isNamed: boolean,
  options: LandOptions,
): Promise<LandReport> {
  const worktree = requireWorktree(work);
  const target = options.onto ?? worktree.startedFrom;
  const report = reportFor(work.agent, target ?? null);
  try {
    if (options.signal.aborted) throw interrupted();
    if (target === undefined) throw noTarget(work.agent);
    requireLinkedWorktree(worktree.path, worktree.repository);
    const env = guardedGitEnv(ctx.env);
    const common = gitDirectoriesOf(worktree.path)?.common ?? worktree.path;
    const onStep = (step: LandingStep): void => options.onStep?.(work.agent, step);
    const lock = {
      signal: options.signal,
      onWait: (pid: number | undefined) => options.onStep?.(work.agent, "waits", pid),
    };
    return await whileLandingAlone(common, lock, async () => {
      await requireNoTurn(ctx, work, isNamed);
      await recoverLanding(ctx.ref, work.agent, env);
      const { gate, signal } = options;
      const landed = await landWorktree(ctx, work, worktree, { target, gate, signal, onStep, env });
      return report(
        landed,
        landed.outcome === "rework" ? await returnWork(ctx, work, target, landed.rework) : undefined,
      );
    });
  } catch (error) {
    if (error instanceof TeamError && error.code === "INTERRUPTED") throw error;
    const refusal = error instanceof GitError ? gitRefusal(error, work.agent) : error;
    if (!(refusal instanceof TeamError)) throw error;
    return report(refusal);
  }
}

type Report = (result: Landed | TeamError, returned?: ReturnedWork) => LandReport;

function reportFor(agent: string, target: string | null): Report {
  const nothing = {
    ...{ agent, target, commit: null, commits: 0, checkout: null, reason: null, hint: null },
    ...{ output: null, taskId: null, notified: false },
  };
  return (result, returned) => {
    if (result instanceof TeamError)
      return { ...nothing, outcome: "refused", reason: result.message, hint: result.hint ?? null };
    if (result.outcome !== "rework") return { ...nothing, ...result };
    const { kind, reason, output, todo } = result.rework;
    const hint = returned?.notified ? null : todo;
    return { ...nothing, outcome: kind, reason, hint, output, ...returned };
  };
}

/**
 * @param isNamed whether the caller has named the agent
 * @throws TeamError AGENT_BUSY if the agent may work now: a rebase would change its files at the same time
 */
async function requireNoTurn(
  ctx: OperationContext,
  { agent, member }: AgentWork,
  isNamed: boolean,
): Promise<void> {
  const records = memberRecords(ctx.ref).filter((known) => known.member.name === member?.name);
  const [known] = await withPresence(ctx, records);
  if (known === undefined) return;
  const shown = judgeShown(ctx.ref, known.member, known);
  const isUnjudged = shown.alive === null && shown.state === "unknown";
  const verdict = withUnreportedTurn(ctx.ref, known, isUnjudged ? verdictIfAlive(known) : shown);
  const { state, alive } = verdict;
  if (alive === false) return;
  if (!MAY_BEGIN.has(state) && isBetweenTurns(ctx.ref, known.member, verdict, known.status)) return;
  const word = memberWord(ctx.ref, agent, ctx.env);
  if (areTurnsUnseen(known.member, state)) {
    // teams cannot see whether such a member works: the caller decides, about each agent that it names.
    if (isNamed) return;
    throw new TeamError("AGENT_BUSY", `teams cannot see whether ${agent} is in a turn (${state}).`, {
      hint: `Look at its pane (teams peek ${word}). If it is in no turn, name it: teams land ${word}`,
    });
  }
  if (isUnjudged) {
    const what = `${agent} was at work (${state}) at its last report, on another machine or in another container.`;
    throw new TeamError("AGENT_BUSY", what, {
      hint: `Land its work after that turn. If that machine or container is gone for good, remove the member first: teams kill ${word} --force`,
    });
  }
  throw new TeamError("AGENT_BUSY", `${agent} is at work (${state}).`, {
    hint: `Wait for the end of its turn: teams wait ${word} --idle   or interrupt it: teams interrupt ${word}`,
  });
}

/**
 * Whether teams cannot see if a member is in a turn. If a program is only typed to, its pause is that of the next message, which says
 * nothing about its turn.
 */
function areTurnsUnseen(member: TeamMember, state: AgentState): boolean {
  return state === "unknown" || (state === "paused" && readMetadata(member, "typed") === true);
}

/** Judges an agent whose process cannot be judged here: it may run on another machine or in another container. */
function verdictIfAlive(known: MemberRecords): ReturnType<typeof judgeLiveness> {
  // The backends see no place of another machine or container.
  return judgeLiveness(known.member, { ...known, presentInstances: undefined }, () => "alive");
}

function noTarget(agent: string): TeamError {
  return new TeamError(
    "INVALID_INPUT",
    `The worktree of ${agent} was created from a detached HEAD, so its target branch is unknown.`,
    { hint: "Name the branch: --onto <branch>" },
  );
}

function gitRefusal(error: GitError, agent: string): TeamError {
  return new TeamError("WORKTREE_DIRTY", `git could not land the work of ${agent}: ${messageOf(error)}`, {
    hint: error.missing
      ? "Install git."
      : isFetchRefused(error)
        ? "Fetch the missing objects first: git fetch --refetch --no-filter"
        : `Fix the problem that git reports, then run teams land ${shellWord(agent)} again.`,
    cause: error,
  });
}
