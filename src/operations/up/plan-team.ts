import { join, relative } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { placeInWorktree, repositoryOf } from "../../git/repository.ts";
import { ifReadable } from "../../os/files/if-readable.ts";
import { realPathOf } from "../../os/files/symlinks.ts";
import type { BudgetLimits } from "../../schema/budget.ts";
import type { TeamConfig, TeamMember } from "../../schema/config.ts";
import { readMetadata, worktreeOf } from "../../schema/member-metadata.ts";
import { LEAD_NAME, sameName } from "../../schema/names.ts";
import type { PermissionMode } from "../../schema/permission-modes.ts";
import { limitsOf } from "../../team/members/budget.ts";
import { currentMode } from "../../team/members/permission-mode.ts";
import type { ProvenTask } from "../../team/tasks/task-proof.ts";
import { operand, optionWords } from "../../text/shell-quote.ts";
import type { DraftedMember } from "./check-members.ts";
import type { DeclaredMember, DeclaredTask, DeclaredTeam } from "./declared-team.ts";
import { type TaskChange, taskChanges, taskDifferences } from "./task-changes.ts";

interface ModeChange {
  readonly name: string;
  readonly before: string | undefined;
  readonly mode: PermissionMode;
}

interface BudgetChange {
  /** Undefined for the team. */
  readonly name: string | undefined;
  readonly before: BudgetLimits;
  /** Only the changed limits. */
  readonly limits: BudgetLimits;
}

/** The changes that make a team match its file. Nothing is ever ended or deleted. */
export interface TeamPlan {
  readonly isNew: boolean;
  readonly members: readonly DeclaredMember[];
  /** Names of members that have stopped, and are restarted with their conversation. */
  readonly resumed: readonly string[];
  readonly tasks: readonly DeclaredTask[];
  readonly taskChanges: readonly TaskChange[];
  readonly modes: readonly ModeChange[];
  readonly budgets: readonly BudgetChange[];
  readonly startsLead: boolean;
  /** Sentences about differences that stay. */
  readonly left: readonly string[];
}

/** The existing team, as far as a plan needs it. */
export interface ExistingTeam {
  readonly config: TeamConfig;
  readonly tasks: readonly ProvenTask[];
  /** Ids of tasks that cannot be read. */
  readonly unreadable: readonly string[];
  /** Whether a member has stopped and can be restarted from here. */
  isStopped(member: TeamMember): boolean;
  /** Whether an agent leads the team, or has led it. */
  readonly hasLead: boolean;
  /** Whether a process of that lead runs, as far as it can be judged. */
  readonly leadLives: boolean;
}

/** Whether a plan changes anything. */
export function isEmptyPlan({
  isNew,
  members,
  resumed,
  tasks,
  taskChanges: changes,
  modes,
  budgets,
  startsLead,
}: TeamPlan): boolean {
  const lists = [members, resumed, tasks, changes, modes, budgets];
  return !isNew && !startsLead && lists.every((all) => all.length === 0);
}

/**
 * Compares a declared team with the existing one.
 * @param existing undefined if the team does not exist
 */
export function planTeam(declared: DeclaredTeam, existing: ExistingTeam | undefined): TeamPlan {
  const { members, tasks, lead } = declared;
  if (existing === undefined)
    return {
      ...{ isNew: true, members, tasks, startsLead: lead !== undefined },
      ...{ resumed: [], taskChanges: [], modes: [], budgets: [], left: [] },
    };
  const { config } = existing;
  const present = members.flatMap((member) => {
    const found = memberCalled(config, member.name);
    return found === undefined ? [] : [{ member, found }];
  });
  return {
    isNew: false,
    members: members.filter(({ name }) => memberCalled(config, name) === undefined),
    resumed: present.flatMap(({ found }) => (existing.isStopped(found) ? [found.name] : [])),
    tasks: tasks.filter(({ subject }) => existing.tasks.every((task) => task.subject !== subject)),
    taskChanges: taskChanges(tasks, existing.tasks),
    modes: modeChanges(declared, config, present),
    budgets: [
      ...budgetChange(undefined, config, declared.budget),
      ...present.flatMap(({ member, found }) => budgetChange(found.name, found, member.budget)),
    ],
    startsLead: lead !== undefined && !existing.hasLead,
    left: leftAlone(declared, existing),
  };
}

/** Returns the member with a name of the file. */
function memberCalled({ members }: TeamConfig, name: string): TeamMember | undefined {
  return members.find((one) => one.name !== LEAD_NAME && sameName(one.name, name));
}

interface Present {
  readonly member: DeclaredMember;
  readonly found: TeamMember;
}

/** Returns the mode changes. Plan mode is only a member's first mode: an approved plan sets another. */
function modeChanges(
  { permissionMode }: DeclaredTeam,
  config: TeamConfig,
  present: readonly Present[],
): ModeChange[] {
  const lead = config.members.find(({ name }) => name === LEAD_NAME);
  const wanted = [
    // A lead in delegate mode keeps that mode; the declared mode is only for its teammates.
    ...(lead === undefined || lead.mode === "delegate" ? [] : [{ of: lead, mode: permissionMode }]),
    ...present.map(({ member: { permissionMode: mode, plan }, found }) => ({
      of: found,
      mode: plan === true ? undefined : mode,
    })),
  ];
  return wanted.flatMap(({ of, mode }) => {
    const before = currentMode(of);
    if (mode === undefined || mode === "plan" || (before ?? "default") === mode) return [];
    return [{ name: of.name, before, mode }];
  });
}

function budgetChange(
  name: string | undefined,
  holder: TeamConfig | TeamMember,
  wanted: BudgetLimits,
): BudgetChange[] {
  const before = limitsOf(holder) ?? {};
  const limits = Object.fromEntries(
    Object.entries(wanted).filter(([key, value]) => before[key as keyof BudgetLimits] !== value),
  );
  return Object.keys(limits).length === 0 ? [] : [{ name, before, limits }];
}

/** How many names of one kind are listed. */
const MAX_NAMED = 10;

function leftAlone(
  { members, tasks, file, lead }: DeclaredTeam,
  { config, tasks: all, unreadable, hasLead, leadLives }: ExistingTeam,
): string[] {
  const others = config.members
    .map(({ name }) => name)
    .filter((name) => name !== LEAD_NAME && !members.some((member) => sameName(member.name, name)));
  const extra = all.filter(
    ({ subject, status }) => status !== "completed" && !tasks.some((task) => task.subject === subject),
  );
  return [
    ...(lead === undefined || !hasLead || leadLives
      ? []
      : [
          `The team's lead has ended. To resume it: teams run --resume ${optionWords("--team", config.name)}`,
        ]),
    ...(others.length === 0
      ? []
      : [`Members that are not in ${file}, so left as they are: ${listed(others)}.`]),
    ...(extra.length === 0
      ? []
      : [
          `Open tasks that are not in ${file}, so left as they are: ${listed(extra.map(({ id }) => `#${id}`))}.`,
        ]),
    ...taskDifferences(tasks, all, file),
    ...(unreadable.length === 0
      ? []
      : [
          `Tasks that cannot be read count as missing: ${listed(unreadable.map((id) => `#${id}`))}. To repair them first: teams doctor --fix`,
        ]),
  ];
}

function listed(names: readonly string[]): string {
  const more = names.length - MAX_NAMED;
  return `${names.slice(0, MAX_NAMED).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

/** Returns a sentence for each member whose declaration differs from what it was started with. */
export function differences(config: TeamConfig, drafted: readonly DraftedMember[]): string[] {
  return drafted.flatMap(({ declared, draft }) => {
    const found = memberCalled(config, declared.name);
    if (found === undefined) return [];
    const fields = [
      ...FIELDS.filter(
        ([field, read]) => declared[field] !== undefined && !isDeepStrictEqual(read(draft), read(found)),
      ).map(([field]) => field),
      ...(isDirectoryOf(declared, found) ? [] : ["cwd"]),
      ...(isWorktreeOf(declared, found) ? [] : ["worktree"]),
      ...(hasFacts(found, draft.metadata) ? [] : ["metadata"]),
    ];
    if (fields.length === 0) return [];
    return [
      `${found.name} was started with other values (${fields.join(", ")}), and keeps them. To apply those of the file: teams kill ${operand(found.name)}, then teams up again.`,
    ];
  });
}

/** Whether a member works in the declared directory, or in the corresponding one of its worktree. Resolves links in both paths. */
function isDirectoryOf({ cwd }: DeclaredMember, found: TeamMember): boolean {
  const worktree = worktreeOf(found);
  // The member's directory may be closed to this process, or on another machine.
  if (worktree === undefined)
    return realPathOf(cwd) === (ifReadable(() => realPathOf(found.cwd)) ?? found.cwd);
  const { path, repository } = worktree;
  const isOfRepository = repository === undefined || gitOf(cwd) === gitOf(repository);
  return isOfRepository && placeInWorktree(cwd) === relative(path, found.cwd);
}

/** Returns a path that is the same for all worktrees of a repository, even if its `.git` is a link. */
function gitOf(directory: string): string {
  return realPathOf(join(repositoryOf(directory), ".git"));
}

/** Whether a member has the declared worktree: none, any, or that of a branch. */
function isWorktreeOf({ worktree: wanted }: DeclaredMember, found: TeamMember): boolean {
  const branch = worktreeOf(found)?.branch;
  if (wanted === undefined) return true;
  return typeof wanted === "string" ? branch === wanted : wanted === (branch !== undefined);
}

/** Whether a member has this metadata of the user; it may have more. */
function hasFacts({ metadata: kept = {} }: TeamMember, wanted: Started["metadata"]): boolean {
  return Object.entries(wanted ?? {}).every(
    ([key, value]) => key.startsWith("_") || isDeepStrictEqual(kept[key], value),
  );
}

type Started = Pick<
  TeamMember,
  "model" | "agentType" | "prompt" | "allowedTools" | "disallowedTools" | "metadata" | "planModeRequired"
>;

/** The fields that apply only at the start of a member, and their values. */
const FIELDS: readonly (readonly [keyof DeclaredMember, (member: Started) => unknown])[] = [
  ["prompt", ({ prompt }) => prompt],
  ["agentType", ({ agentType }) => agentType],
  ["model", ({ model }) => model],
  ["cli", (member) => readMetadata(member, "cli")],
  ["effort", (member) => readMetadata(member, "effort")],
  ["allowedTools", ({ allowedTools }) => allowedTools],
  ["disallowedTools", ({ disallowedTools }) => disallowedTools],
  ["writes", (member) => readMetadata(member, "writes")],
  ["sandbox", (member) => readMetadata(member, "sandbox")],
  ["plan", ({ planModeRequired }) => planModeRequired === true],
];
