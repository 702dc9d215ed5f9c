import { authenticProtocol } from "../protocol/senders.ts";
import { LEAD_NAME } from "../schema/names.ts";
import { peekInbox } from "../team/inbox-file.ts";
import type { TeamRef } from "../team/ref.ts";
import { listRequests, type RequestRecord } from "../team/requests.ts";

/** The plans that wait although the lead has read of them: where it has nothing left to do, only a person answers them. */
export function plansLeftBy(ref: TeamRef): readonly RequestRecord[] {
  const plans = listRequests(ref).filter(({ kind }) => kind === "plan");
  if (plans.length === 0) return [];
  const read = peekInbox(ref, LEAD_NAME).flatMap((message) => {
    const protocol = message.read ? authenticProtocol(message, LEAD_NAME) : undefined;
    return protocol?.type === "plan_approval_request" ? [protocol.requestId] : [];
  });
  return plans.filter(({ id }) => read.includes(id));
}
