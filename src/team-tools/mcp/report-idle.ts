import * as z from "zod/mini";
import { MAX_IDLE_RESULT } from "../../protocol/messages.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import { sendMessage } from "../../team/mailbox/send.ts";
import { jsonResult, withRefusals } from "../context.ts";
import type { ClientTool } from "./client-tool.ts";

const text = z.string().check(z.maxLength(MAX_IDLE_RESULT));
const input = z.object({
  result: z.optional(text).check(z.describe("Your result, for the lead")),
  failure: z.optional(text).check(z.describe("Why you cannot continue, if that is so")),
});

export const reportIdle: ClientTool = ({ ctx, worker }) => ({
  name: "ReportIdle",
  description: `Tells ${LEAD_NAME} that you have nothing left to do, with your result. Call it once when your work is done or cannot continue; then Wait for a message.`,
  hints: { title: "Report that you are idle" },
  input,
  output: z.looseObject({ success: z.boolean(), message: z.string() }),
  execute: ({ result, failure }: z.infer<typeof input>) =>
    withRefusals(async () => {
      const notice = worker.takeIdleNotice(result, failure, ctx.clock.now());
      const color = worker.color === undefined ? {} : { color: worker.color };
      await sendMessage(ctx.ref, { from: worker.name, to: LEAD_NAME, text: notice, ...color });
      return jsonResult({ success: true, message: `${LEAD_NAME} knows that you are idle.` });
    }),
});
