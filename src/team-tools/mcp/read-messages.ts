import * as z from "zod/mini";
import { jsonResult, withRefusals } from "../context.ts";
import type { ClientTool } from "./client-tool.ts";

const count = z.number().check(z.int(), z.minimum(1), z.maximum(50));
const input = z.object({
  limit: z._default(count, 20).check(z.describe("How many messages at most")),
  recent: z
    .optional(count)
    .check(
      z.describe("Return this many of the newest messages instead, including read ones; marks none as read"),
    ),
});

export const readMessages: ClientTool = ({ mail }) => ({
  name: "ReadMessages",
  description:
    "Returns your unread messages, oldest first, and marks them as read. A message may come again after a crash (`again`): its id stays the same.",
  input,
  execute: ({ limit, recent }: z.infer<typeof input>, { signal }) =>
    withRefusals(async () => {
      if (recent !== undefined) return jsonResult({ messages: await mail.recent(recent) });
      const { messages, more } = await mail.take(limit, signal);
      return jsonResult({ messages, ...(more === 0 ? {} : { more }) });
    }),
});
