import { messageOf } from "../../errors.ts";
import { gitDirectoriesOf } from "../../git/repository.ts";
import { type Approval, listApprovals } from "../../operations/approvals/approvals.ts";
import type { OperationContext } from "../../operations/context.ts";
import { type ChangedWork, readChangedWork, readHeads } from "../../operations/landing/changed-work.ts";
import { isConversation } from "../../operations/run/take-over-lead.ts";
import { pause, steadyNow } from "../../os/clock.ts";
import type { SpentAmount } from "../../schema/budget.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import { readTeam, teamExists } from "../../team/config/config.ts";
import { spentBy, spentByTeam } from "../../team/members/budget.ts";
import { type EndedTeam, endedTeamOf } from "../../team/records/ended-teams.ts";
import type { Home } from "../../team/ref.ts";
import type { AnyCall } from "../../terminal/call.ts";
import { shortened } from "../../text/characters/cut-text.ts";
import { compact } from "../../text/compact-number.ts";
import { duration } from "../../text/duration.ts";
import { shortPath } from "../../text/short-path.ts";
import { gridText } from "../../text/terminal-text.ts";
import { wrapRow } from "../../text/word-wrap.ts";

/** A request that no person and no lead has answered. */
export type UnansweredRequest = Pick<Approval, "id" | "kind" | "from" | "summary">;

/** The time, cost, changes and open requests of a run. */
export interface RunSummary {
  /** The id of the lead's conversation. */
  readonly sessionId: string;
  readonly durationMs: number;
  /** Used by all members during this run. */
  readonly tokens: number;
  /** US dollars; models without a known price count as 0. */
  readonly costUsd: number;
  /** Absent outside a repository. */
  readonly changes?: readonly ChangedWork[];
  /** Why some changes are missing from the list; absent if none are. */
  readonly changeProblems?: readonly string[];
  readonly unanswered: readonly UnansweredRequest[];
}

/** Collects the summary of a run. The team's files are read before they are deleted. */
export interface RunRecorder {
  /** Reads the facts that the deletion of the team would remove. Never rejects. */
  remember(): Promise<void>;
  /** The team as it was read last. */
  readonly team: EndedTeam;
  /** @param lead the lead's spending, even after the deletion of its team */
  summary(lead: SpentAmount): Promise<RunSummary>;
}

/** Time limit in milliseconds for git at the end of a run. */
const GIT_MS = 10_000;

interface Remembered {
  readonly team: EndedTeam;
  /** Spent by all members except the lead. */
  readonly others: SpentAmount;
  readonly changes: ReadonlyMap<string, ChangedWork>;
  readonly problems: readonly string[];
  readonly unanswered: readonly UnansweredRequest[];
}

/** @param problem reports what could not be read */
export function recordRun(
  ctx: OperationContext,
  sessionId: string,
  problem: (text: string) => void,
): RunRecorder {
  const began = steadyNow();
  const at = ctx.clock.now();
  const config = readTeam(ctx.ref);
  const before = spentByTeam(ctx.ref, config);
  const heads = readHeads(ctx);
  const isInRepository = gitDirectoriesOf(ctx.cwd) !== undefined;
  const team = endedTeamOf(ctx.ref, config, at);
  let known: Remembered = { team, others: NOTHING, changes: new Map(), problems: [], unanswered: [] };
  const readChanges = async () => {
    const changed = readChangedWork(ctx, { at, heads: await heads });
    const late = pause(GIT_MS).then(() => ({ changes: [], problems: [`git took over ${GIT_MS / 1000} s`] }));
    return Promise.race([changed, late]);
  };
  const remember = async (): Promise<void> => {
    // The lead has deleted its team: keep the facts that were read before.
    if (!teamExists(ctx.ref)) return;
    try {
      const config = readTeam(ctx.ref);
      const all = spentByTeam(ctx.ref, config);
      const unanswered = listApprovals(ctx.ref).map(({ id, kind, from, summary }) => ({
        ...{ id, kind, from, summary },
      }));
      const team = endedTeamOf(ctx.ref, config, ctx.clock.now());
      known = { ...known, team, others: minus(all, spentBy(ctx.ref, LEAD_NAME)), unanswered };
      const { changes, problems } = await readChanges();
      const byDirectory = changes.map((change) => [change.directory, change] as const);
      known = { ...known, changes: new Map([...known.changes, ...byDirectory]), problems };
    } catch (error) {
      // The run's result is more important than its summary.
      problem(`the summary of the run is incomplete: ${messageOf(error)}`);
    }
  };
  return {
    remember,
    get team() {
      return known.team;
    },
    async summary(lead) {
      await remember();
      const { others, changes, problems, unanswered } = known;
      const spent = minus(
        { tokens: others.tokens + lead.tokens, costUsd: others.costUsd + lead.costUsd },
        before,
      );
      return {
        sessionId,
        durationMs: Math.round(steadyNow() - began),
        ...spent,
        ...(isInRepository || changes.size > 0 ? { changes: [...changes.values()] } : {}),
        ...(problems.length === 0 ? {} : { changeProblems: problems }),
        unanswered,
      };
    },
  };
}

const NOTHING: SpentAmount = { tokens: 0, costUsd: 0 };
/** Sums of fractions of a cent have floating-point errors. */
const PRECISION = 1e9;

function minus(a: SpentAmount, b: SpentAmount): SpentAmount {
  const costUsd = Math.round((a.costUsd - b.costUsd) * PRECISION) / PRECISION;
  return { tokens: Math.max(0, a.tokens - b.tokens), costUsd: Math.max(0, costUsd) };
}

/** Maximum open requests, directories and files that are named; the rest are counted. */
const MAX_REQUESTS = 8;
const MAX_DIRECTORIES = 4;
const MAX_FILES = 3;
/** Maximum characters of a request. */
const MAX_REQUEST = 160;
/** Maximum columns of the path of a file. */
const MAX_PATH = 30;

interface ResultText {
  readonly text: () => readonly string[];
  /** Undefined if the team was left. */
  readonly summary: RunSummary | undefined;
  /** How to read the conversation again. */
  readonly again: readonly string[];
  /** How to continue with the team. */
  readonly next: readonly string[];
}

/**
 * Prints the result of a run with its summary, unless `--quiet` is set. Without a terminal the summary is a note on stderr: there, the
 * result is the last text of stdout.
 */
export function printWithSummary(
  { io, out, options }: AnyCall,
  result: object,
  { text, summary, again, next }: ResultText,
): void {
  // The lines in `again` and `next` are not wrapped: people copy the commands in them.
  const wrapped = (row: string): readonly string[] => wrapRow(row, io.columns ?? Number.POSITIVE_INFINITY);
  const lines =
    summary === undefined || options.quiet ? [] : [...summaryLines(summary).flatMap(wrapped), ...again];
  const isNote = !io.terminal.stdout;
  out.answer(result, () => [...text(), ...(isNote ? [] : lines), ...next].join("\n"));
  if (isNote && lines.length > 0) out.note(lines.join("\n"));
}

/** Returns the summary for people: the open requests, then time, tokens and cost, then the changes. */
function summaryLines(summary: RunSummary): string[] {
  const { durationMs, tokens, costUsd, unanswered } = summary;
  const spent = [
    duration(Math.round(durationMs / 1000)),
    ...(tokens === 0 ? [] : [`${compact(tokens)} tokens`]),
    ...(costUsd === 0 ? [] : [costUsd < 0.005 ? "<$0.01" : `$${costUsd.toFixed(2)}`]),
  ];
  const open = unanswered
    .slice(0, MAX_REQUESTS)
    .map(({ from, kind, summary: what }) =>
      shortened(gridText(`Unanswered ${kind} of ${from}: ${what}`), MAX_REQUEST),
    );
  const more = unanswered.length - open.length;
  return [...open, ...(more > 0 ? [`… and ${more} more`] : []), spent.join(" · "), ...changeLine(summary)];
}

/** Returns how to read the conversation of a lead whose team is deleted; no line if the lead has none. */
export function readAgainLine({ root }: Home, { sessionId }: Pick<RunSummary, "sessionId">): string[] {
  return isConversation(root, sessionId) ? [`To read it again: teams logs --session ${sessionId}`] : [];
}

/** Returns the line about changes; none outside a repository, where git reports nothing. */
function changeLine({ changes, changeProblems = [] }: RunSummary): string[] {
  if (changes === undefined) return [];
  if (changes.length === 0 && changeProblems.length === 0) return ["no files changed"];
  const shown = changes.slice(0, MAX_DIRECTORIES).map(changeText);
  const more = changes.length - shown.length;
  const parts = [
    ...shown,
    ...(more > 0 ? [`${more} more ${more === 1 ? "directory" : "directories"}`] : []),
    ...changeProblems.map((text) => shortened(gridText(`changes unknown: ${text}`), MAX_REQUEST)),
  ];
  return parts.length === 0 ? [] : [parts.join(" · ")];
}

/** Returns e.g. `2 files changed, +40 -2: a.ts, b.ts (1 commit on main)`; an agent's own worktree begins with its name and branch. */
function changeText({ agent, isOwn, branch, commits, files }: ChangedWork): string {
  const sum = (of: "added" | "removed"): number => files.reduce((all, file) => all + (file[of] ?? 0), 0);
  const count = `${files.length} ${files.length === 1 ? "file" : "files"}`;
  const names = files.slice(0, MAX_FILES).map(({ path }) => shortPath(path, undefined, MAX_PATH));
  const more = files.length > MAX_FILES ? ", …" : "";
  const changed = `${count} changed, +${sum("added")} -${sum("removed")}: ${names.join(", ")}${more}`;
  const on = branch === undefined ? "" : ` on ${gridText(branch)}`;
  const made = commits === 0 ? "" : `${commits} ${commits === 1 ? "commit" : "commits"}`;
  if (isOwn) return `${gridText(agent)}${on}: ${changed}${made === "" ? "" : ` (${made})`}`;
  return made === "" ? changed : `${changed} (${made}${on})`;
}
