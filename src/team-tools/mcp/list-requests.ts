import * as z from "zod/mini";
import { approvalDetails, listApprovals } from "../../operations/approvals/approvals.ts";
import { openForeignRequests } from "../../operations/approvals/foreign-requests.ts";
import { jsonResult, withRefusals } from "../context.ts";
import type { ClientTool } from "./client-tool.ts";

const input = z.object({
  request_id: z.optional(z.string()).check(z.describe("Only this request, with all its details")),
});

export const listRequests: ClientTool = ({ ctx }) => ({
  name: "ListRequests",
  description:
    "Lists the plans, permissions, questions and crashes that wait for an answer. You can answer plans; only a person can answer the others.",
  input,
  readOnly: true,
  execute: ({ request_id: id }: z.infer<typeof input>) =>
    withRefusals(async () => {
      await openForeignRequests(ctx.ref, ctx.env);
      if (id !== undefined) return jsonResult({ request: await approvalDetails(ctx.ref, id) });
      return jsonResult({ requests: listApprovals(ctx.ref) });
    }),
});
