import * as z from "zod/mini";
import { answerApproval, approvalDetails } from "../../operations/approvals/approvals.ts";
import { openForeignRequests } from "../../operations/approvals/foreign-requests.ts";
import { requireLead } from "../../operations/context.ts";
import { defined } from "../../schema/defined.ts";
import { WORKING_MODES } from "../../schema/permission-modes.ts";
import { jsonResult, withRefusals } from "../context.ts";
import { askPerson } from "./ask-person.ts";
import type { ClientCall, ClientTool, ClientToolContext } from "./client-tool.ts";

const input = z.object({
  request_id: z.string().check(z.minLength(1), z.describe("Request id, from ListRequests or the message")),
  approve: z
    .optional(z.boolean())
    .check(
      z.describe("Your answer to a plan. Leave it out to let the person decide, in a form of your client"),
    ),
  note: z
    .optional(z.string().check(z.maxLength(100_000)))
    .check(z.describe("Feedback, or the reason for a rejection")),
  mode: z
    .optional(z.enum(WORKING_MODES))
    .check(z.describe("The permission mode for carrying out the plan; no more than yours")),
});
type Call = z.infer<typeof input>;

const output = z.looseObject({
  success: z.boolean(),
  message: z.string(),
  request_id: z.string(),
  approved: z.optional(z.boolean()),
  by: z.optional(z.enum(["you", "person"])),
});

export const answerRequest: ClientTool = (context) => ({
  name: "AnswerRequest",
  description:
    "Approves or rejects a teammate's plan. Without `approve`, the person gets the request in a form, if your client supports forms: only a person can answer permissions, questions and crashes. The first answer counts.",
  hints: { title: "Answer a request" },
  input,
  output,
  execute: (call: Call, clientCall) =>
    withRefusals(async () => {
      const { ctx } = context;
      requireLead(ctx, "approve or reject");
      await openForeignRequests(ctx.ref, ctx.env);
      if (call.approve === undefined) return answerByPerson(context, call.request_id, clientCall);
      const { request_id: id, approve, note, mode } = call;
      const { from } = await answerApproval(ctx, id, {
        approve,
        decider: "model" as const,
        ...defined({ note, mode }),
      });
      const message = `${from}'s plan is ${approve ? "approved" : "rejected"}.`;
      return jsonResult({ success: true, message, request_id: id, approved: approve, by: "you" });
    }),
});

async function answerByPerson(context: ClientToolContext, id: string, call: ClientCall) {
  const { ctx } = context;
  const details = await approvalDetails(ctx.ref, id);
  const decision = await askPerson(context, details, call);
  if (decision === undefined) {
    const message = "The person gave no answer; the request stays open.";
    return jsonResult({ success: false, message, request_id: id });
  }
  const { approve, note } = decision;
  const { from, kind } = await answerApproval(ctx, id, { approve, ...defined({ note }), decider: "person" });
  const message = `The person has ${approve ? "approved" : "rejected"} the ${kind} of ${from}.`;
  return jsonResult({ success: true, message, request_id: id, approved: approve, by: "person" });
}
