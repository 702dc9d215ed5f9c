import * as z from "zod/mini";
import { withProblems } from "../../operations/status.ts";
import { jsonResult, withRefusals } from "../context.ts";
import type { ClientTool } from "./client-tool.ts";
import { reconcileForLead } from "./reconcile-for-lead.ts";

const count = z.number().check(z.int(), z.minimum(1), z.maximum(50));
const input = z.object({
  limit: z._default(count, 20).check(z.describe("Maximum number of messages")),
  recent: z
    .optional(count)
    .check(
      z.describe("Return this many of the newest messages instead, including read ones; marks none as read"),
    ),
});

const output = z.looseObject({
  messages: z.array(
    z.looseObject({
      id: z.string(),
      from: z.string(),
      at: z.string(),
      type: z.string(),
      text: z.string(),
      summary: z.optional(z.string()),
      again: z.optional(z.literal(true)),
    }),
  ),
  more: z.optional(z.int()).check(z.describe("Unread messages that did not fit")),
  problems: z.optional(z.array(z.string())),
});

export const readMessages: ClientTool = ({ ctx, mail, role }) => ({
  name: "ReadMessages",
  description:
    "Returns your unread messages, oldest first, and marks them as read. A message may come again after a crash (`again`): its id stays the same.",
  hints: { title: "Read your messages" },
  input,
  output,
  execute: ({ limit, recent }: z.infer<typeof input>, call) =>
    withRefusals(async () => {
      if (recent !== undefined) return jsonResult({ messages: await mail.recent(recent) });
      const problems = await reconcileForLead({ ctx, role });
      const { messages, more } = await mail.take(limit, call);
      return jsonResult({ messages, ...(more === 0 ? {} : { more }), ...withProblems(problems) });
    }),
});
