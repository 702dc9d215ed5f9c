import type {
  DeclaredLead,
  DeclaredMember,
  DeclaredTask,
  DeclaredTeam,
} from "../../operations/up/declared-team.ts";
import type { TeamPlan } from "../../operations/up/plan-team.ts";
import type { TaskChange } from "../../operations/up/task-changes.ts";
import type { BudgetLimits } from "../../schema/budget.ts";
import { line, type Output } from "../../terminal/output.ts";
import { cutToWidth } from "../../text/cell-width.ts";

/** Columns of a line without a terminal. */
const WIDTH = 120;

/** Returns what a plan changes, one line for each change: `+` adds, `~` changes, `>` starts. Safe to print. */
export function planText(
  out: Pick<Output, "columns" | "styleText">,
  { name, lead }: DeclaredTeam,
  plan: TeamPlan,
): string {
  const add = out.styleText("+", "good");
  const change = out.styleText("~", "attention");
  const start = out.styleText(">", "good");
  const width = out.columns ?? WIDTH;
  const cut = (text: string): string => cutToWidth(text.replace(/\s+/g, " ").trim(), Math.max(20, width - 4));
  return [
    ...(plan.isNew ? [line`${add} team ${cut(name)}`] : []),
    ...plan.modes.map(
      (one) => line`${change} ${cut(`${one.name}: permissionMode ${one.before ?? "default"} → ${one.mode}`)}`,
    ),
    ...plan.budgets.map(
      (one) =>
        line`${change} ${cut(`${one.name ?? "the team"}: budget ${limitChanges(one.before, one.limits)}`)}`,
    ),
    ...plan.tasks.map((task) => line`${add} ${cut(taskText(task))}`),
    ...plan.taskChanges.flatMap((one) =>
      taskChangeTexts(one).map((text) => line`${change} ${cut(`task #${one.id}: ${text}`)}`),
    ),
    ...plan.resumed.map(
      (one) => line`${start} ${cut(`${one} has stopped, and is restarted with its conversation`)}`,
    ),
    ...plan.members.map((member) => line`${add} ${cut(memberText(member))}`),
    ...(plan.startsLead && lead !== undefined ? [line`${start} ${cut(leadText(lead))}`] : []),
  ].join("\n");
}

/** Returns the changed fields, each with its value before. */
export function taskChangeTexts({ before, fields }: TaskChange): readonly string[] {
  const text = (value: string | readonly string[] | undefined): string => {
    if (value === undefined) return "none";
    return typeof value === "string" ? value : value.join(" ") || "none";
  };
  return (["verify", "reviewer", "touches"] as const).flatMap((field) =>
    fields[field] === undefined ? [] : [`${field} ${text(before[field])} → ${text(fields[field])}`],
  );
}

function taskText({ subject, owner, blockedBy, verify, reviewer, touches = [] }: DeclaredTask): string {
  const facts = [
    ...(owner === undefined ? [] : [`for ${owner}`]),
    ...(blockedBy.length === 0 ? [] : [`after ${blockedBy.map((one) => JSON.stringify(one)).join(", ")}`]),
    ...(reviewer === undefined ? [] : [`reviewed by ${reviewer}`]),
    ...(touches.length === 0 ? [] : [`touches ${touches.join(" ")}`]),
    ...(verify === undefined ? [] : [`verified by ${verify}`]),
  ];
  return `task ${JSON.stringify(subject)}${facts.length === 0 ? "" : `: ${facts.join(", ")}`}`;
}

function memberText(member: DeclaredMember): string {
  const { agentType, cli, model, plan, permissionMode, writes, sandbox, worktree, budget } = member;
  const facts = [
    ...[agentType, cli, model].filter((one) => one !== undefined),
    ...(plan === true ? ["plans first"] : []),
    ...(permissionMode === undefined ? [] : [`mode ${permissionMode}`]),
    ...(writes === undefined ? [] : [writes.length === 0 ? "writes nothing" : `writes ${writes.join(" ")}`]),
    ...(sandbox === undefined ? [] : [`sandbox ${sandbox}`]),
    ...(worktree === undefined || worktree === false ? [] : ["own worktree"]),
    ...Object.entries(budget).map(([key, value]) => limitText(key, value)),
  ];
  return `member ${member.name}${facts.length === 0 ? "" : `: ${facts.join(", ")}`}`;
}

function leadText({ cli, goal = "you type its goal" }: DeclaredLead): string {
  return `the lead${cli === undefined ? "" : ` ${cli}`}: ${goal}`;
}

function limitChanges(before: BudgetLimits, limits: BudgetLimits): string {
  return Object.entries(limits)
    .map(([key, value]) => {
      const old = before[key as keyof BudgetLimits];
      return `${old === undefined ? "no limit" : limitText(key, old)} → ${limitText(key, value)}`;
    })
    .join(", ");
}

function limitText(key: string, value = 0): string {
  return key === "maxTokens" ? `${value.toLocaleString("en-US")} tokens` : `$${value.toFixed(2)}`;
}
