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
    "Sends your written plan to the lead for approval, and ends your turn. The answer starts your next turn.",
  input,
  whilePlanning: true,
  access: () => TEAM_ACCESS,
  summary: () => "",
  execute: ({ plan }) =>
    withRefusals(async () => {
      const sent = await worker.planApproval.submit(plan);
      if ("refusal" in sent) return { content: sent.refusal, isError: true };
      return {
        content: `Your plan is waiting for approval (${sent.requestId}). Do nothing else until the answer arrives.`,
        data: { request_id: sent.requestId },
        display: "Your plan is waiting for approval.",
        endTurn: true,
      };
    }),
});
