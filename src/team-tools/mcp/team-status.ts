import * as z from "zod/mini";
import { teamStatus as readStatus, withProblems } from "../../operations/status.ts";
import { jsonResult, withRefusals } from "../context.ts";
import type { ClientTool } from "./client-tool.ts";
import { keepShown } from "./list-requests.ts";
import { reconcileForLead } from "./reconcile-for-lead.ts";

const input = z.object({});

const output = z.looseObject({
  team: z.string(),
  you: z.string(),
  members: z.array(
    z.looseObject({
      name: z.string(),
      state: z.string(),
      activity: z.string(),
      unread: z.int(),
      agent_type: z.nullable(z.string()),
      model: z.nullable(z.string()),
      task_ids: z.array(z.string()),
    }),
  ),
  tasks: z.looseObject({
    pending: z.int(),
    in_progress: z.int(),
    completed: z.int(),
    blocked: z.int(),
  }),
  requests: z.array(
    z.looseObject({ id: z.string(), kind: z.string(), from: z.string(), summary: z.string() }),
  ),
  problems: z.optional(z.array(z.string())),
});

export const teamStatus: ClientTool = ({ ctx, role, knownRequests }) => ({
  name: "TeamStatus",
  description:
    "Shows the team: its members with their states and unread messages, the number of open tasks, and the requests that are waiting for an answer.",
  hints: { title: "Show the team", readOnly: true },
  input,
  output,
  execute: (_input: z.infer<typeof input>, { signal }) =>
    withRefusals(async () => {
      const failures = await reconcileForLead({ ctx, role });
      const { team, displayName, members, tasks, approvals, deadlock, problems } = await readStatus(ctx);
      signal.throwIfAborted();
      keepShown(knownRequests, approvals);
      return jsonResult({
        team,
        ...(displayName === team ? {} : { display_name: displayName }),
        you: ctx.actor,
        members: members.map(({ name, agentType, model, state, activity, taskIds, unread, cwd }) => ({
          ...{ name, state, activity, unread, cwd },
          agent_type: agentType,
          model,
          task_ids: taskIds,
        })),
        tasks: {
          pending: tasks.pending,
          in_progress: tasks.inProgress,
          completed: tasks.completed,
          blocked: tasks.blocked,
        },
        requests: approvals.map(({ id, kind, from, summary }) => ({ id, kind, from, summary })),
        ...(deadlock === null ? {} : { deadlock }),
        ...withProblems([...(problems ?? []), ...failures]),
      });
    }),
});
