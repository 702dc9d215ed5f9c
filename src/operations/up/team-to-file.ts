import { relative } from "node:path";
import { DEFAULT_AGENT_TYPE } from "../../agent/prompts/agent-types.ts";
import type { TeamConfig, TeamMember } from "../../schema/config.ts";
import { defined } from "../../schema/defined.ts";
import { readMetadata, worktreeOf } from "../../schema/member-metadata.ts";
import { LEAD_NAME, sameName } from "../../schema/names.ts";
import { limitsOf } from "../../team/members/budget.ts";
import { currentMode, modeToInherit } from "../../team/members/permission-mode.ts";
import type { ProvenTask } from "../../team/tasks/task-proof.ts";
import { ownerName } from "../../team/tasks/tasks.ts";

type Json = Readonly<Record<string, unknown>>;

/** A team file, and sentences about the parts of the team that it cannot contain. */
interface WrittenTeam {
  readonly file: Json;
  readonly left: readonly string[];
}

/**
 * Returns the team file that declares a team as it is.
 * @param directory where the file will be: paths are relative to it
 */
export function teamToFile(config: TeamConfig, tasks: readonly ProvenTask[], directory: string): WrittenTeam {
  const lead = config.members.find(({ name }) => name === LEAD_NAME);
  const mode = lead && modeToInherit(lead);
  const others = config.members.filter(({ name }) => name !== LEAD_NAME);
  const adopted = others.filter((member) => readMetadata(member, "adopted") !== undefined);
  const members = others.filter((member) => !adopted.includes(member));
  const isMember = (name: string): boolean => members.some((member) => sameName(member.name, name));
  const unique = tasks.filter(({ subject }, i) => tasks.findIndex((one) => one.subject === subject) === i);
  const file = defined({
    name: config.displayName ?? config.name,
    description: config.description,
    permissionMode: mode === "default" ? undefined : mode,
    ...limitFields(config),
    members: members.map((member) => memberFields(member, mode, directory)),
    tasks: unique.length === 0 ? undefined : unique.map((task) => taskFields(task, unique, isMember)),
  });
  const duplicates = tasks.length - unique.length;
  const proposals = unique.flatMap(({ id, proposedVerify }) =>
    proposedVerify === undefined ? [] : [`#${id}`],
  );
  return {
    file: escaped(file) as Json,
    left: [
      ...adopted.map(({ name }) => `${name} is a program that a person started, so it is left out.`),
      ...(duplicates === 0
        ? []
        : [
            `${duplicates === 1 ? "1 task is" : `${duplicates} tasks are`} left out: another one has the same subject.`,
          ]),
      ...(proposals.length === 0
        ? []
        : [`No person has confirmed the verify command of ${proposals.join(", ")}, so it is left out.`]),
    ],
  };
}

function memberFields(member: TeamMember, leadMode: string | undefined, directory: string): Json {
  const cli = readMetadata(member, "cli");
  const worktree = worktreeOf(member);
  const mode = currentMode(member);
  const isPlanning = member.planModeRequired === true;
  const cwd = worktree === undefined ? relative(directory, member.cwd) : "";
  const own = Object.entries(member.metadata ?? {}).filter(([key]) => !key.startsWith("_"));
  return defined({
    name: member.name,
    // A file needs a prompt; a member can be started without one.
    prompt: member.prompt || "Wait for messages.",
    agentType: member.agentType === DEFAULT_AGENT_TYPE ? undefined : member.agentType,
    // Without a model, the field has the name of the CLI.
    model: member.model === cli ? undefined : member.model,
    cli,
    effort: readMetadata(member, "effort"),
    plan: isPlanning ? true : undefined,
    permissionMode: isPlanning || mode === "plan" || mode === (leadMode ?? "default") ? undefined : mode,
    allowedTools: member.allowedTools,
    disallowedTools: member.disallowedTools,
    writes: readMetadata(member, "writes"),
    sandbox: readMetadata(member, "sandbox"),
    ...limitFields(member),
    cwd: cwd === "" ? undefined : cwd.startsWith("..") ? member.cwd : cwd,
    worktree: worktree === undefined ? undefined : worktree.madeBranch ? true : worktree.branch,
    metadata: own.length === 0 ? undefined : Object.fromEntries(own),
  });
}

function limitFields(holder: TeamConfig | TeamMember): Json {
  const { maxTokens, maxCostUsd } = limitsOf(holder) ?? {};
  return defined({ maxTokens, maxCost: maxCostUsd });
}

function taskFields(task: ProvenTask, all: readonly ProvenTask[], isMember: (name: string) => boolean): Json {
  const inFile = (name: string | null | undefined): string | undefined =>
    name != null && (isMember(name) || name === LEAD_NAME) ? name : undefined;
  const blockers = all.filter(({ id }) => task.blockedBy.includes(id)).map(({ subject }) => subject);
  const own = Object.entries(task.metadata ?? {}).filter(([key]) => !key.startsWith("_"));
  return defined({
    subject: task.subject,
    description: task.description === "" ? undefined : task.description,
    owner: inFile(ownerName(task)),
    blockedBy: blockers.length === 0 ? undefined : blockers,
    verify: task.verify ?? undefined,
    reviewer: inFile(task.reviewer),
    touches: task.touches.length === 0 ? undefined : task.touches,
    metadata: own.length === 0 ? undefined : Object.fromEntries(own),
  });
}

/** Escapes text that a reader would read as a variable. */
function escaped(value: unknown): unknown {
  if (typeof value === "string") return value.replaceAll("${", () => "$${");
  if (Array.isArray(value)) return value.map(escaped);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, escaped(one)]));
}
