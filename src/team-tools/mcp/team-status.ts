import * as z from "zod/mini";
import { teamStatus as readStatus } from "../../operations/status.ts";
import { jsonResult, withRefusals } from "../context.ts";
import type { ClientTool } from "./client-tool.ts";

const input = z.object({});

export const teamStatus: ClientTool = ({ ctx }) => ({
  name: "TeamStatus",
  description:
    "Shows the team: its members with their states and unread messages, how many tasks are open, and what waits for an answer.",
  input,
  readOnly: true,
  execute: () =>
    withRefusals(async () => {
      const { team, displayName, members, tasks, approvals, deadlock, problems } = await readStatus(ctx);
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
        ...(problems === undefined ? {} : { problems }),
      });
    }),
});
