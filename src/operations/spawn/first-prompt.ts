import { plainText } from "../../protocol/messages.ts";
import type { TeamMember } from "../../schema/config.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import { eventMessageId } from "../../team/mailbox/event-message-id.ts";
import { sendMessage } from "../../team/mailbox/send.ts";
import type { OperationContext } from "../context.ts";

/**
 * Puts what a member was spawned with into its inbox, where it finds it when it looks; once, also where a start that was
 * killed had done so.
 */
export async function deliverPrompt({ ref }: OperationContext, member: TeamMember): Promise<void> {
  const { name, prompt, joinedAt } = member;
  if (!prompt) return;
  const messageId = eventMessageId("prompt", member.agentId, String(joinedAt));
  await sendMessage(ref, { from: LEAD_NAME, to: name, text: plainText(prompt), messageId });
}
