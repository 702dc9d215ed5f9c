import type { AnyTool } from "../agent/tool.ts";
import { agent } from "./agent.ts";
import { askUserQuestion } from "./ask-user-question.ts";
import type { MemberTool, TeamToolContext } from "./context.ts";
import { CurrentTeam } from "./current-team.ts";
import { exitPlanMode } from "./exit-plan-mode.ts";
import { sendMessageTool } from "./send-message.ts";
import { taskCreate } from "./task-create.ts";
import { taskGet } from "./task-get.ts";
import { taskList } from "./task-list.ts";
import { taskUpdate } from "./task-update.ts";
import { teamCreate } from "./team-create.ts";
import { teamDelete } from "./team-delete.ts";

/** The tools of every member, whatever program it runs. */
export const MEMBER_TOOLS: readonly MemberTool[] = [
  sendMessageTool,
  taskCreate,
  taskGet,
  taskUpdate,
  taskList,
  askUserQuestion,
];
const WITHOUT_TEAM = [taskCreate, taskGet, taskUpdate, taskList, askUserQuestion, agent];
const FOR_ALL = [sendMessageTool, ...WITHOUT_TEAM];
const FOR_LEAD = [teamCreate, teamDelete];
const FOR_TEAMMATES = [exitPlanMode];

/** Returns the team tools of an agent, according to its role. A lead without a team keeps its tasks, subagents and questions. */
export function teamTools(context: TeamToolContext): AnyTool[] {
  if (context.teamsOff) return WITHOUT_TEAM.map((tool) => tool(context));
  const common = FOR_ALL.map((tool) => tool(context));
  if (context.role === "teammate") return [...common, ...FOR_TEAMMATES.map((tool) => tool(context))];
  const led = { ...context, led: new CurrentTeam(context) };
  return [...common, ...FOR_LEAD.map((tool) => tool(led))];
}
