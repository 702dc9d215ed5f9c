import * as z from "zod/mini";
import { TeamError } from "../errors.ts";
import { formatProtocol } from "../protocol/messages.ts";
import { defined } from "../schema/defined.ts";
import { LEAD_NAME } from "../schema/names.ts";
import { sendMessage } from "../team/mailbox/send.ts";
import { newQuestionId } from "../team/requests/question-id.ts";
import { openAndNotify } from "../team/requests/requests.ts";
import { type MemberTool, TEAM_ACCESS, withRefusals } from "./context.ts";

/** Maximum deadline in seconds: a week. */
const MAX_DEADLINE = 604_800;

const input = z.object({
  question: z
    .string()
    .check(z.minLength(1), z.maxLength(10_000), z.describe("Everything the person needs to answer it")),
  choices: z
    .optional(z.array(z.string()).check(z.maxLength(20)))
    .check(z.describe("Answers to choose from; the person can give another one")),
  default: z
    .optional(z.string().check(z.minLength(1), z.maxLength(10_000)))
    .check(z.describe("The answer if the person only agrees, or does not answer before the deadline")),
  deadline: z
    .optional(z.int().check(z.positive(), z.maximum(MAX_DEADLINE)))
    .check(z.describe("Seconds until the default becomes the answer; if omitted, the question stays open")),
});

/** Opens a request with a question. The turn continues; the answer comes as a message (protocol.md sections 4 and 8). */
export const askUserQuestion: MemberTool = ({ ctx, worker, role }) => ({
  name: "AskUserQuestion",
  description:
    "Asks the person a question. The answer arrives as a message; end your turn if you cannot continue without it.",
  input,
  access: () => TEAM_ACCESS,
  summary: ({ question }: z.infer<typeof input>) => question,
  execute: ({ question, choices, default: byDefault, deadline }: z.infer<typeof input>) =>
    withRefusals(async () => {
      if (deadline !== undefined && byDefault === undefined) {
        throw new TeamError("INVALID_INPUT", "A deadline needs a default. Nothing was asked.", {
          hint: "Set `default` to the answer that applies after the deadline.",
        });
      }
      const now = ctx.clock.now();
      const requestId = newQuestionId(ctx.ref, worker.name, now);
      const asked = choices === undefined ? question : `${question} [${choices.join(" / ")}]`;
      const due = deadline === undefined ? undefined : now + deadline * 1_000;
      const payload = defined({ question, choices, default: byDefault, deadline: due });
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
      worker.showQuestion(requestId);
      const until = due === undefined ? "" : ` Without an answer, your default applies after ${deadline} s.`;
      return {
        content: `Your question is waiting for an answer (${requestId}).${until}`,
        data: { request_id: requestId },
        display: "Your question is waiting for an answer.",
      };
    }),
});
