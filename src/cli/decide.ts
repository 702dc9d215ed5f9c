import { type ApprovalAnswer, answerApproval } from "../lead/approvals.ts";
import type { AnyCall } from "./command.ts";
import { filesContext } from "./context.ts";
import { line } from "./paint.ts";
import { deciderOf, openTeam } from "./team.ts";
import { textOption } from "./text.ts";

/** Answers what waits under an id, as `approve` and `reject` do. @param note as the option has it; `-` reads stdin */
export async function decide(
  call: AnyCall,
  id: string,
  note: string | undefined,
  answer: Pick<ApprovalAnswer, "approve" | "mode">,
): Promise<void> {
  const { options, io, out } = call;
  const ctx = filesContext(call, openTeam(io.env, options));
  const text = await textOption(io, note, "note");
  const approval = await answerApproval(ctx, id, {
    ...answer,
    decider: deciderOf(io.env),
    ...(text === undefined ? {} : { note: text }),
  });
  const word = answer.approve ? "Approved" : "Rejected";
  out.done(
    { ...approval, approved: answer.approve },
    () => line`${word}: ${approval.kind} of ${approval.from}.`,
  );
}
