import { authenticProtocol } from "../../protocol/authenticate.ts";
import type { InboxMessage } from "../../schema/inbox.ts";

const TYPE = "shutdown_request";

/** True if a shutdown request waits unread in an agent's inbox: the agent works on it after its turn. */
export function hasUnreadShutdownRequest(inbox: readonly InboxMessage[], agent: string): boolean {
  return inbox.some(
    // The search spares parsing each long message.
    (message) =>
      !message.read && message.text.includes(TYPE) && authenticProtocol(message, agent)?.type === TYPE,
  );
}
