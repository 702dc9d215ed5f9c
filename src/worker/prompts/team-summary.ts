import { TeamError } from "../../errors.ts";
import { LEAD_NAME, sameName } from "../../schema/names.ts";
import type { Task } from "../../schema/task.ts";
import { readTeam } from "../../team/config/config.ts";
import { readStatus } from "../../team/records/read-records.ts";
import type { TeamRef } from "../../team/ref.ts";
import { listRequests } from "../../team/requests/requests.ts";
import { listTasks, ownerName } from "../../team/tasks/tasks.ts";
import { shortened } from "../../text/characters/cut-text.ts";

/** Maximum number of listed tasks: those with the lowest ids, which are claimed first. */
const MAX_TASKS = 100;
const MAX_LINE_CHARACTERS = 300;

/**
 * Summarises the team from its files, for an agent whose compacted conversation may have lost this (S49). Each text of another
 * member is one line, labelled with its source.
 */
export function teamSummary(ref: TeamRef, name: string): string {
  try {
    return [membersOf(ref, name), tasksOf(ref, name), requestsOf(ref, name)].join("\n\n");
  } catch (error) {
    if (error instanceof TeamError && error.code === "TEAM_NOT_FOUND") return "The team was deleted.";
    throw error;
  }
}

function membersOf(ref: TeamRef, name: string): string {
  const lines = readTeam(ref).members.map((member) => {
    const state = readStatus(ref, member.name)?.state;
    const type = member.name === LEAD_NAME ? undefined : member.agentType;
    const facts = [type, sameName(member.name, name) ? "you" : state].filter(Boolean);
    return oneLine(`- ${member.name}${facts.length === 0 ? "" : ` (${facts.join(", ")})`}`);
  });
  return ["Members of the team:", ...lines].join("\n");
}

function tasksOf(ref: TeamRef, name: string): string {
  const tasks = listTasks(ref);
  const completed = new Set(tasks.filter(({ status }) => status === "completed").map(({ id }) => id));
  const open = tasks.filter(({ id }) => !completed.has(id));
  const lines = open.slice(0, MAX_TASKS).map((task) => taskLine(task, name, completed));
  const more = open.length > MAX_TASKS ? [`(${open.length - MAX_TASKS} more; TaskList shows all)`] : [];
  const heading = `Tasks: ${completed.size} completed, ${open.length} open${open.length === 0 ? "." : ":"}`;
  return [heading, ...lines, ...more].join("\n");
}

function taskLine(task: Task, name: string, completed: ReadonlySet<string>): string {
  const owner = ownerName(task);
  const waits = task.blockedBy.filter((id) => !completed.has(id)).map((id) => `#${id}`);
  const facts = [
    task.status,
    ...(owner === undefined ? ["free"] : [sameName(owner, name) ? "yours" : `owned by ${owner}`]),
    ...(waits.length === 0 ? [] : [`waits for ${waits.join(", ")}`]),
  ];
  return oneLine(`- #${task.id} (${facts.join("; ")}): ${task.subject}`);
}

/** For a lead all open requests, for a teammate its own. */
function requestsOf(ref: TeamRef, name: string): string {
  const all = listRequests(ref).filter(({ from }) => name === LEAD_NAME || sameName(from, name));
  if (all.length === 0) return "Nothing is waiting for an answer.";
  const lines = all.map(({ id, kind, from, summary }) => oneLine(`- ${kind} of ${from}, ${id}: ${summary}`));
  return ["Waiting for an answer:", ...lines].join("\n");
}

function oneLine(text: string): string {
  return shortened(text.replace(/\s+/g, " "), MAX_LINE_CHARACTERS);
}
