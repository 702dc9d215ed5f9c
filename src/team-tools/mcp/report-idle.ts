import * as z from "zod/mini";
import { MAX_IDLE_RESULT } from "../../protocol/messages.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import { sendMessage } from "../../team/mailbox/send.ts";
import { jsonResult, withRefusals } from "../context.ts";
import type { ClientTool } from "./client-tool.ts";

const text = z.string().check(z.maxLength(MAX_IDLE_RESULT));
const input = z.object({
  result: z.optional(text).check(z.describe("Your result, for the lead")),
  failure: z.optional(text).check(z.describe("The reason, if you cannot continue")),
});

export const reportIdle: ClientTool = ({ ctx, worker }) => ({
  name: "ReportIdle",
  description: `Reports to ${LEAD_NAME} that you are idle, with your result. Call it once, when your work is done or you cannot continue. Then call Wait.`,
  hints: { title: "Report that you are idle" },
  input,
  output: z.looseObject({ success: z.boolean(), message: z.string() }),
  execute: ({ result, failure }: z.infer<typeof input>) =>
    withRefusals(async () => {
      const notice = worker.takeIdleNotice(result, failure, ctx.clock.now());
      const color = worker.color === undefined ? {} : { color: worker.color };
      await sendMessage(ctx.ref, { from: worker.name, to: LEAD_NAME, text: notice, ...color });
      return jsonResult({ success: true, message: `${LEAD_NAME} was notified that you are idle.` });
    }),
});
