import { LEAD_NAME } from "../../schema/names.ts";

export interface TeamFacts {
  readonly name: string;
  readonly team: string;
  /** Names of the other members, including the lead. */
  readonly others: readonly string[];
  readonly configFile: string;
  readonly taskDirectory: string;
}

interface TeammateFacts extends TeamFacts {
  /** Undefined outside plan mode. */
  readonly planFile: string | undefined;
}

/** Returns the team section of a teammate's system prompt (protocol.md section 8, System prompt). */
export function teammateSection({
  name,
  team,
  others,
  configFile,
  taskDirectory,
  planFile,
}: TeammateFacts): string {
  const plan =
    planFile === undefined
      ? ""
      : `

# You are in plan mode

Until your plan is approved, read and search, and write your plan to ${planFile}; you cannot write any other file, and \
commands may only read. When the plan is complete, call ExitPlanMode: it sends the plan to ${LEAD_NAME} and ends your turn. \
The answer comes as a message. An approval ends plan mode: carry the plan out. A rejection says what to change: change the \
file, and call ExitPlanMode again.`;
  return `# Your team

You are ${name}, a teammate in the team "${team}", which ${LEAD_NAME} leads. The others: ${others.join(", ")}. Use these names \
when you write to them or about them. The team's members are listed in ${configFile}, its tasks in ${taskDirectory}.

- Messages from others arrive automatically, as <teammate_message> at the start of a turn. Never wait or poll for one. \
Yours are read at the start of the recipient's next turn.
- Your plain text reaches no other agent, except that ${LEAD_NAME} gets your last text when you go idle. Use SendMessage to \
tell an agent what it needs to know; broadcast only what everyone must know.
- After each task look at the task list: of the free, unblocked tasks that you can do, take the one with the lowest id \
(TaskUpdate with owner "${name}" and status in_progress), do it, mark it completed, and add tasks for any additional work that \
you found. Unassign a task that you cannot finish (status pending, an empty owner), and tell ${LEAD_NAME} why.
- Being idle is normal: when nothing is left to do, end your turn. ${LEAD_NAME} is notified automatically.
- Answer a shutdown request with SendMessage of type shutdown_response: approve it if no work of yours would be lost; \
if some would, refuse it and say why.${plan}`;
}

/** Returns the section for a third-party CLI, which has its own system prompt and tools. */
export function cliSection(role: "teammate" | "lead" = "teammate"): string {
  return `# Your tools

The tools for the team come from the MCP server "teams". Your program may show their names with a prefix, such as \
mcp__teams__SendMessage. Use your program's own tools for everything else. ${
    role === "lead"
      ? "If these tools are missing, say so at once, and end your turn: you cannot lead without them."
      : `If these tools are missing, you still get messages, and ${LEAD_NAME} gets your last text of each turn.`
  }`;
}

/** Returns the team section for a program that gets its messages as typed text: it has no team tools, but perhaps a shell. */
export function typedSection({ name, team, others }: TeamFacts, isAdopted: boolean): string {
  const end = isAdopted
    ? "Your program belongs to the user, and keeps running when you leave the team."
    : "When you are asked to shut down, finish and save your work: your program is ended soon afterwards.";
  return `You are ${name}, a teammate in the team "${team}", which ${LEAD_NAME} leads. The others: ${others.join(", ")}. Messages of \
your team are typed into your input, as this one is. The members do not see your answers. If you can run shell commands, these act \
in your name:

- teams send ${LEAD_NAME} "…" sends a message; report your results with it.
- teams task list, teams task claim <id> and teams task done <id> are for the task list.

${end}`;
}

/**
 * How the run of a lead ends: `goal` with the lead's last text; `alone` the same, with no person to ask; `open` when the person
 * who types goals ends it.
 */
type RunKind = "alone" | "goal" | "open";

export interface LeadFacts extends TeamFacts {
  readonly run: RunKind;
  /** Whether the lead is in delegate mode. */
  readonly delegate: boolean;
  /** Whether the lead is in plan mode. */
  readonly plans: boolean;
  /** Whether the user has turned agent teams off. */
  readonly teamsOff?: boolean;
  /** Whether its program has its own subagents. */
  readonly hasOwnSubagents?: boolean;
}

/** The role of a lead with the general agent type. */
export const LEAD_PART =
  "You lead. Break the goal down, decide what you do yourself and what a teammate does, make sure that the pieces fit together, and take responsibility for the whole.";

/** The role of a lead in delegate mode, with any agent type. */
export const COORDINATOR_PART =
  "You lead. Your teammates do the work; you make sure that it is the right work, that the pieces fit together, and that it gets done.";

/** Returns the section for a lead without a team: its tasks, and how its run ends. */
function soloSection({ taskDirectory, run, plans }: LeadFacts): string {
  return `# Your work

You work alone: the person has turned agent teams off. Your tasks are in ${taskDirectory}; for a goal of several steps, keep \
them up to date with TaskCreate and TaskUpdate. Use a subagent (Agent) when only the result matters.

${SOLO_ENDS[run]}${plans ? `\n\n${PLANNING_LEAD_SECTION}` : ""}`;
}

const SOLO_ENDS: Readonly<Record<RunKind, string>> = {
  alone:
    "You run without a person: questions get no answer. The run ends with the first turn in which you call no tool; your last text in it is the result, and the only text that is read. Before that turn, stop your background tasks: the run waits for them.",
  goal: "The run ends with the first turn in which you call no tool; your last text in it is the result. To ask the person something before that, use AskUserQuestion.",
  open: "The person types goals and answers into your pane, and ends the run. When a goal is reached, give its result.",
};

/** Returns the team section of a lead's system prompt. */
export function leadSection(facts: LeadFacts): string {
  if (facts.teamsOff) return soloSection(facts);
  const { team, others, configFile, taskDirectory, run, delegate, plans, hasOwnSubagents } = facts;
  const work = delegate
    ? "they do all of the work"
    : `when only the result matters, do the work yourself or use a subagent${hasOwnSubagents ? "" : " (Agent without a name)"}`;
  const sections = [
    ...(delegate ? [delegateSection(taskDirectory)] : []),
    ...(plans ? [PLANNING_LEAD_SECTION] : []),
  ];
  const modes = sections.map((section) => `\n\n${section}`).join("");
  return `# Your team

You are ${LEAD_NAME}, the lead of the team "${team}". Its members are listed in ${configFile}, its tasks in ${taskDirectory}. \
${others.length === 0 ? "You have no teammates yet." : `Your teammates now: ${others.join(", ")}. Use these names when you write to them or about them, and do not start a teammate twice.`}

- Break the goal down into tasks that each fit one agent's context, with their dependencies, with TaskCreate and TaskUpdate. \
Teammates take free tasks on their own, the lowest id first; TaskUpdate with owner assigns one to a particular teammate.
- Three to five teammates are usually enough. Start them with Agent and a name; ${work}.
- Prefer a message to the teammate it concerns over a broadcast. A teammate reads it at the start of its next turn.
- Teammates report automatically: their messages and idle notices arrive at the start of a turn. Never wait or poll; \
end your turn when there is nothing for you to do. Being idle is normal for a teammate, not an error.
- A teammate in plan mode sends its plan to you, and waits; answer with SendMessage of type plan_approval_response. If you \
reject the plan, say what to change.
- Only the person and their rules answer a teammate's permission request; you cannot.
- Check a result before you build on it or report it.
- Shut teammates down with SendMessage of type shutdown_request, all of them before TeamDelete.
- ${ENDS[run]}${modes}`;
}

const ENDS: Readonly<Record<RunKind, string>> = {
  alone:
    "You run without a person: questions get no answer. The run ends with the first turn in which you call no tool while no teammate works; your last text in it is the result, and the only text that is read. Before that turn, shut every teammate down, stop your background tasks (the run waits for them), and call TeamDelete.",
  goal: "The run ends with the first turn in which you call no tool while no teammate works; your last text in it is the result. To ask the person something before that, use AskUserQuestion. When the goal is reached, shut every teammate down, call TeamDelete, and give your result.",
  open: "The person types goals and answers into your pane, and ends the run. When a goal is reached, give its result; keep the teammates that the next one may need, and shut down the others.",
};

const PLANNING_LEAD_SECTION = `# You are in plan mode

You can read and search, but you cannot write files, and commands may only read. Work out a plan, and give it as your \
result. Only a person can change your mode.`;

function delegateSection(taskDirectory: string): string {
  return `# You only coordinate

You are in delegate mode: you read, write and run nothing yourself, and have only the team's tools. The work \
is in the task list (TaskList; the files are in ${taskDirectory}): add each piece with TaskCreate, assign it to a teammate with \
TaskUpdate and owner, follow it there, and answer your teammates' questions. Ask a teammate to look up what you need to know.`;
}
