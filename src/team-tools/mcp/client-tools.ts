import { answerRequest } from "./answer-request.ts";
import type { AnyClientTool, ClientToolContext } from "./client-tool.ts";
import { createClientTeam } from "./create-team.ts";
import { deleteClientTeam } from "./delete-team.ts";
import { listRequests } from "./list-requests.ts";
import { readMessages } from "./read-messages.ts";
import { reportIdle } from "./report-idle.ts";
import { sharedTools } from "./shared-tools.ts";
import { startAgent } from "./start-agent.ts";
import { taskClaim } from "./task-claim.ts";
import { teamStatus } from "./team-status.ts";
import { wait } from "./wait.ts";

const FOR_LEAD = [startAgent, listRequests, answerRequest, createClientTeam, deleteClientTeam];

/** Returns the tools of an MCP client, according to its member's role. */
export function clientTools(context: ClientToolContext): readonly AnyClientTool[] {
  const own = [
    taskClaim,
    teamStatus,
    wait,
    ...(context.withoutInbox ? [] : [readMessages]),
    ...(context.role === "lead" ? FOR_LEAD : []),
    ...(context.role === "lead" || context.withoutInbox ? [] : [reportIdle]),
  ];
  return [...sharedTools(context), ...own.map((tool) => tool(context))];
}
