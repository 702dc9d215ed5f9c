import type { MemberStatus, TeamStatus } from "../operations/status.ts";
import { teamTitle } from "../schema/config.ts";
import { LEAD_NAME, sameName } from "../schema/names.ts";
import { budgetText } from "../team/members/budget.ts";
import { deadlockSentence } from "../team/tasks/deadlock.ts";
import { costText } from "../text/amounts.ts";
import { displayWidth } from "../text/cell-width.ts";
import { compact } from "../text/compact-number.ts";
import { operand } from "../text/shell-quote.ts";
import { shortCall } from "../text/short-call.ts";
import { line, type Output, STATE_STYLES, visible } from "./output.ts";
import { brokenTasksNote } from "./status-line.ts";
import { type Cell, table } from "./table.ts";
import { taskTable } from "./task-text.ts";

/** How the parts are laid out. */
export interface StatusLayout {
  /**
   * For a screen that shows only the beginning, and cuts its rows: open requests come before the members, and a command that does not
   * fit after its request has a row of its own.
   */
  readonly forScreen?: boolean;
  /** Returns a member as the last word of a command; its quoted name if omitted. */
  memberWord?(name: string): string;
}

/** Returns a team's status as text: members, tasks and what waits for the user. */
export function statusText(
  status: TeamStatus,
  out: Pick<Output, "styleText" | "columns">,
  stuck?: StuckSince,
  layout: StatusLayout = {},
): string {
  const shown = { ...status, members: status.members.map((member) => withStuck(member, stuck)) };
  const tasks = [taskPart, brokenPart, deadlockPart, problemPart];
  const parts = layout.forScreen
    ? [heading, approvalPart, memberTable, ...tasks]
    : [heading, memberTable, ...tasks, approvalPart];
  return parts
    .map((part) => part(shown, out, layout))
    .filter((part) => part !== "")
    .join("\n\n");
}

function heading(
  { team, displayName, leadAlive, tasks, budget }: TeamStatus,
  { styleText }: Pick<Output, "styleText">,
): string {
  const lead = leadAlive === null ? "led by hand" : leadAlive ? "lead is running" : "lead is gone";
  const total = tasks.list.length;
  const done = total === 0 ? "no tasks" : `${tasks.completed} of ${total} tasks done`;
  const used = budget === null ? "" : `, budget ${budgetText(budget, budget.spent)}`;
  return line`${styleText(teamTitle({ name: team, displayName }), "bold")} - ${styleText(lead, leadAlive === false ? "bad" : "quiet")}, ${done}${used}`;
}

function memberTable({ members, leadAlive }: TeamStatus, out: Pick<Output, "styleText" | "columns">): string {
  if (members.every((member) => member.name === LEAD_NAME)) {
    return 'No teammates yet. Try: teams spawn <name> --prompt "…"';
  }
  const { styleText } = out;
  const asked = members.some(({ git }) => git !== undefined);
  const paid = members.some(({ costUsd }) => costUsd > 0);
  const differ = members.some(({ mode }) => mode !== null && mode !== "default");
  const rows = members.map((member): Cell[] => [
    styleText(member.name, { member: member.color ?? undefined }),
    isByHand(member.name, leadAlive) ? "" : styleText(member.state, ...STATE_STYLES[member.state]),
    ...(differ ? [member.mode ?? ""] : []),
    member.taskIds.map((id) => `#${id}`).join(" "),
    mailOf(member),
    tokensOf(member),
    ...(paid ? [costText(member.costUsd)] : []),
    ...(asked ? [worktreeText(member)] : []),
    (room) => shortCall(doing(member), member.cwd, room).text,
  ]);
  const headings = ["MEMBER", "STATE", ...(differ ? ["MODE"] : []), "TASK", "MAIL", "TOKENS"];
  const tokens = headings.length - 1;
  const more = [...(paid ? ["COST"] : []), ...(asked ? ["WORKTREE"] : []), "ACTIVITY"];
  return table([...headings, ...more], rows, {
    columns: out.columns,
    right: paid ? [tokens, tokens + 1] : [tokens],
    spare: ["MODE", "MAIL", "TOKENS", "WORKTREE"],
  });
}

function problemPart({ problems = [] }: TeamStatus, { styleText }: Pick<Output, "styleText">): string {
  if (problems.length === 0) return "";
  const lines = problems.map((problem) => line`${problem}`);
  return [line`${styleText("Problems:", "bad")}`, ...lines].join("\n");
}

/** A lead without a process has no state: a person or a script leads. */
function isByHand(name: string, leadAlive: boolean | null): boolean {
  return name === LEAD_NAME && leadAlive === null;
}

/** `teams/crew/dev +2 -1, 3 uncommitted`; empty without a worktree. */
function worktreeText({ git }: MemberStatus): string {
  if (git === null || git === undefined) return "";
  if ("problem" in git) return git.problem;
  const { branch, ahead, behind, changed, untracked, dirty } = git;
  const distance = [...(ahead === 0 ? [] : [`+${ahead}`]), ...(behind === 0 ? [] : [`-${behind}`])];
  const where = [branch ?? "detached", ...distance].join(" ");
  return dirty ? `${where}, ${changed + untracked} uncommitted` : where;
}

/** Returns a member's activity; for an ended member, how it ended. */
function doing({ activity, exit }: MemberStatus): string {
  if (exit === null) return activity;
  // The signal is the cause; the last lines of the screen are unrelated.
  if (exit.signal !== null) return exit.signal;
  const how = exit.code === null ? "" : `exit code ${exit.code}`;
  return [how, exit.lastLines.at(-1) ?? ""].filter((part) => part !== "").join(": ");
}

/** `2 queued, 1 in turn`, or nothing. */
function mailOf({ mail: { queued, delivered, inTurn } }: MemberStatus): string {
  const parts = [
    [queued, "queued"],
    [delivered, "delivered"],
    [inTurn, "in turn"],
  ] as const;
  return parts.flatMap(([count, word]) => (count === 0 ? [] : [`${count} ${word}`])).join(", ");
}

function tokensOf({ tokens, budget }: MemberStatus): string {
  const sum = tokens.input + tokens.output + tokens.cacheRead + tokens.cacheWrite;
  if (budget?.maxTokens !== undefined) return `${compact(sum)} of ${compact(budget.maxTokens)}`;
  return sum === 0 ? "" : compact(sum);
}

/** Maximum tasks in a status: with members and approvals, about one screen. */
const MAX_TASKS = 30;

/** Shows only the first open tasks of a long list. */
function taskPart({ tasks: { list } }: TeamStatus, out: Pick<Output, "styleText" | "columns">): string {
  if (list.length <= MAX_TASKS) return list.length === 0 ? "" : taskTable(list, out);
  const open = list.filter(({ status }) => status !== "completed");
  const shown = (open.length === 0 ? list : open).slice(0, MAX_TASKS);
  const rest = `… and ${list.length - shown.length} more: teams task list`;
  return `${taskTable(shown, { ...out, among: list })}\n${rest}`;
}

function brokenPart({ tasks: { broken = [] } }: TeamStatus): string {
  return broken.length === 0 ? "" : brokenTasksNote(broken);
}

function deadlockPart({ deadlock }: TeamStatus, { styleText }: Pick<Output, "styleText">): string {
  if (deadlock === null) return "";
  const [id = ""] = deadlock.tasks;
  const way =
    deadlock.kind === "cycle"
      ? `Break the cycle at a task that is done or not needed: teams task done ${operand(id)}, or teams task rm ${operand(id)}`
      : `Assign it to another member: teams task update ${operand(id)} --owner <name>`;
  return line`${styleText("No member can continue:", "bold", "bad")} ${deadlockSentence(deadlock)}. ${way}`;
}

function approvalPart(
  { approvals, members }: TeamStatus,
  { styleText, columns }: Pick<Output, "styleText" | "columns">,
  { forScreen = false, memberWord = operand }: StatusLayout,
): string {
  if (approvals.length === 0) return "";
  const width = (forScreen ? columns : undefined) ?? Number.POSITIVE_INFINITY;
  const rows = approvals.flatMap(({ id, kind, from, summary, change, partial }) => {
    const { cwd } = members.find(({ name }) => name === from) ?? {};
    // A member's name means its oldest request; the list begins with the oldest.
    const isOldest = approvals.find((one) => sameName(one.from, from))?.id === id;
    const which = isOldest ? memberWord(from) : operand(id);
    const who = line`  ${styleText(kind, "attention")} of ${from}: `;
    const room = width - displayWidth(visible(`  ${kind} of ${from}: `));
    const shown = (call: string, isWhole: boolean): { readonly call: string; readonly command: string } => {
      // A row without the change names the command that shows it.
      const command = !isWhole || partial || change !== undefined ? "approvals" : "approve";
      return { call: visible(call), command: `teams ${command} ${which}` };
    };
    const whole = shown(shortCall(summary, cwd, Number.POSITIVE_INFINITY).text, true);
    const row = line`${whole.call} (${whole.command})`;
    if (displayWidth(row) <= room) return [`${who}${row}`];
    const short = shortCall(summary, cwd, room);
    const { call, command } = shown(short.text, short.isWhole && displayWidth(visible(short.text)) <= room);
    return [`${who}${call}`, line`    ${command}`];
  });
  return [styleText("Waiting for you:", "bold", "attention").styled, ...rows].join("\n");
}

/** When a running agent without activity counts as stuck; `now` in milliseconds since the epoch. */
interface StuckSince {
  readonly now: number;
  readonly stuckAfterMs: number;
}

/** Puts the time without activity before the activity of a stuck member. */
export function withStuck(member: MemberStatus, stuck: StuckSince | undefined): MemberStatus {
  const { state, activity, lastActivityAt } = member;
  const quiet = stuck === undefined || lastActivityAt === null ? 0 : stuck.now - lastActivityAt;
  if (state !== "running" || quiet <= (stuck?.stuckAfterMs ?? 0)) return member;
  const minutes = Math.floor(quiet / 60_000);
  const long = minutes < 1 ? `${Math.floor(quiet / 1000)} s` : `${minutes} min`;
  return { ...member, activity: `stuck? nothing for ${long}${activity === "" ? "" : `: ${activity}`}` };
}
