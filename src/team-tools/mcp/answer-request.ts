import * as z from "zod/mini";
import { answerApproval } from "../../operations/approvals/approvals.ts";
import { openForeignRequests } from "../../operations/approvals/foreign-requests.ts";
import { permissionMode } from "../../schema/config.ts";
import { defined } from "../../schema/defined.ts";
import { jsonResult, withRefusals } from "../context.ts";
import type { ClientTool } from "./client-tool.ts";

const input = z.object({
  request_id: z.string().check(z.minLength(1), z.describe("Its id, from ListRequests or the message")),
  approve: z.boolean().check(z.describe("Your answer")),
  note: z
    .optional(z.string().check(z.maxLength(100_000)))
    .check(z.describe("Feedback, or the reason of a rejection")),
  mode: z
    .optional(permissionMode)
    .check(z.describe("The mode in which the plan is carried out; no more than yours")),
});

export const answerRequest: ClientTool = ({ ctx }) => ({
  name: "AnswerRequest",
  description:
    "Approves or rejects a teammate's plan. The first answer counts. Permissions, questions and crashes are answered by a person.",
  input,
  execute: ({ request_id, approve, note, mode }: z.infer<typeof input>) =>
    withRefusals(async () => {
      await openForeignRequests(ctx.ref, ctx.env);
      const answer = { approve, decider: "model" as const, ...defined({ note, mode }) };
      const { from } = await answerApproval(ctx, request_id, answer);
      const message = `${from}'s plan is ${approve ? "approved" : "rejected"}.`;
      return jsonResult({ success: true, message, request_id });
    }),
});
