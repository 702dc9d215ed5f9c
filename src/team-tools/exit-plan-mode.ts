import * as z from "zod/mini";
import { TEAM_ACCESS, type TeamTool, withRefusals } from "./context.ts";

const input = z.object({
  plan: z
    .optional(z.string())
    .check(z.describe("The whole plan; needed only if you cannot write the plan file")),
});

export const exitPlanMode: TeamTool = ({ worker }) => ({
  name: "ExitPlanMode",
  description:
    "Sends your written plan to the lead for approval. Your turn ends with it; the answer starts the next one.",
  input,
  whilePlanning: true,
  access: () => TEAM_ACCESS,
  summary: () => "",
  execute: ({ plan }) =>
    withRefusals(async () => {
      const sent = await worker.planApproval.submit(plan);
      if ("refusal" in sent) return { content: sent.refusal, isError: true };
      return {
        content: `Your plan waits for approval (${sent.requestId}). Nothing else happens until it is answered.`,
        data: { request_id: sent.requestId },
        display: "Your plan waits for approval.",
        endTurn: true,
      };
    }),
});
