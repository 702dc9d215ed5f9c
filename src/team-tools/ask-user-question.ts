import * as z from "zod/mini";
import { formatProtocol } from "../protocol/messages.ts";
import { questionRequestId } from "../protocol/request-ids.ts";
import { LEAD_NAME } from "../schema/names.ts";
import { sendMessage } from "../team/mailbox/send.ts";
import { openAndNotify } from "../team/requests/requests.ts";
import { TEAM_ACCESS, type TeamTool, withRefusals } from "./context.ts";

const input = z.object({
  question: z
    .string()
    .check(z.minLength(1), z.maxLength(10_000), z.describe("All that the person needs to answer it")),
  choices: z
    .optional(z.array(z.string()).check(z.maxLength(20)))
    .check(z.describe("Answers to choose from; the person can give another one")),
});

/** Opens a request with a question. The turn continues; the answer comes as a message (protocol.md sections 4 and 8). */
export const askUserQuestion: TeamTool = ({ ctx, worker, role }) => ({
  name: "AskUserQuestion",
  description:
    "Asks the person something. The answer comes to you as a message; end your turn if you cannot continue without it.",
  input,
  access: () => TEAM_ACCESS,
  summary: ({ question }: z.infer<typeof input>) => question,
  execute: ({ question, choices }: z.infer<typeof input>) =>
    withRefusals(async () => {
      const now = ctx.clock.now();
      const requestId = questionRequestId(worker.name, now);
      const asked = choices === undefined ? question : `${question} [${choices.join(" / ")}]`;
      const payload = choices === undefined ? { question } : { question, choices };
      const text = formatProtocol(
        { type: "question_request", requestId, from: worker.name, ...payload },
        new Date(now),
      );
      await openAndNotify(
        ctx.ref,
        { id: requestId, kind: "question", from: worker.name, summary: asked, payload, at: now },
        // A lead's question goes to no inbox: the person sees it among the open requests.
        async () => role === "teammate" && sendMessage(ctx.ref, { from: worker.name, to: LEAD_NAME, text }),
      );
      worker.showQuestion(question, choices ?? [], requestId);
      return {
        content: `Your question waits for an answer (${requestId}).`,
        data: { request_id: requestId },
        display: "Your question waits for an answer.",
      };
    }),
});
