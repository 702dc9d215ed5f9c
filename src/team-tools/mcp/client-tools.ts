import type { AnyTool } from "../../agent/tool.ts";
import { MEMBER_TOOLS } from "../team-tools.ts";
import { answerRequest } from "./answer-request.ts";
import type { AnyClientTool, ClientToolContext } from "./client-tool.ts";
import { listRequests } from "./list-requests.ts";
import { readMessages } from "./read-messages.ts";
import { reportIdle } from "./report-idle.ts";
import { spawnTeammate } from "./spawn-teammate.ts";
import { taskClaim } from "./task-claim.ts";
import { teamStatus } from "./team-status.ts";
import { wait } from "./wait.ts";

/** The shared tools that change nothing. */
const READ_ONLY: ReadonlySet<AnyTool["name"]> = new Set(["TaskGet", "TaskList"]);

/** Returns the tools of an MCP client, according to its member's role. */
export function clientTools(context: ClientToolContext): readonly AnyClientTool[] {
  const shared = MEMBER_TOOLS.map((tool) => {
    const { name, description, input, execute } = tool(context);
    return { name, description, input, execute, readOnly: READ_ONLY.has(name) };
  });
  const own = [
    taskClaim,
    teamStatus,
    wait,
    ...(context.withoutInbox ? [] : [readMessages]),
    ...(context.role === "lead" ? [spawnTeammate, listRequests, answerRequest] : []),
    ...(context.role === "lead" || context.withoutInbox ? [] : [reportIdle]),
  ];
  return [...shared, ...own.map((tool) => tool(context))];
}
