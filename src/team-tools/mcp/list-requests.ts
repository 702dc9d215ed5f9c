import * as z from "zod/mini";
import { approvalJson } from "../../operations/approvals/approval-json.ts";
import { approvalDetails, listApprovals } from "../../operations/approvals/approvals.ts";
import { openForeignRequests } from "../../operations/approvals/foreign-requests.ts";
import { jsonResult, withRefusals } from "../context.ts";
import type { ClientTool } from "./client-tool.ts";

const input = z.object({
  request_id: z.optional(z.string()).check(z.describe("Only this request, with all its details")),
});

const request = z.looseObject({
  id: z.string(),
  kind: z.enum(["plan", "permission", "question", "crash"]),
  from: z.string(),
  summary: z.string(),
  at: z.nullable(z.string()),
  deadline: z.optional(z.nullable(z.string())),
});
const output = z.looseObject({
  request: z.optional(request),
  requests: z.optional(z.array(request)),
});

export const listRequests: ClientTool = ({ ctx, knownRequests }) => ({
  name: "ListRequests",
  description:
    "Lists the plans, permissions, questions and crashes that wait for an answer. You can answer plans; only a person can answer the others.",
  hints: { title: "List the open requests", readOnly: true },
  input,
  output,
  execute: ({ request_id: id }: z.infer<typeof input>, { signal }) =>
    withRefusals(async () => {
      await openForeignRequests(ctx.ref, ctx.env);
      if (id !== undefined) {
        const request = await approvalDetails(ctx.ref, id);
        signal.throwIfAborted();
        knownRequests.add(id);
        return jsonResult({ request: approvalJson(request) });
      }
      const requests = listApprovals(ctx.ref);
      signal.throwIfAborted();
      keepShown(knownRequests, requests);
      return jsonResult({ requests: requests.map(approvalJson) });
    }),
});

/**
 * Records the open requests that a result names, and forgets all others, which are answered. Do not call it for a cancelled call: its
 * client gets no result, so it has not been shown the requests.
 */
export function keepShown(known: Set<string>, open: readonly { readonly id: string }[]): void {
  known.clear();
  for (const { id } of open) known.add(id);
}
