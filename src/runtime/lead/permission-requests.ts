import { answerPermission } from "../../operations/approvals/answer-permission.ts";
import { unansweredPlans } from "../../operations/approvals/approvals.ts";
import type { ProtocolMessage } from "../../protocol/messages.ts";
import { additionalDirectories } from "../../settings/settings.ts";
import type { InboxEntry } from "../../team/mailbox/receive.ts";
import { listRequests } from "../../team/requests/requests.ts";
import { operand } from "../../text/shell-quote.ts";
import { cutToWidth, gridText } from "../../text/terminal-text.ts";
import type { Worker } from "../../worker/worker.ts";
import type { Lead } from "./lead.ts";

/** Columns of a call that a teammate asks for; its own pane has all of it. */
const MOST_ASKED = 200;

/** Says once of each plan that the lead has left without an answer that its teammate waits for one. */
export function notifyUnansweredPlans({ ctx, view }: Lead): () => void {
  const said = new Set<string>();
  return () => {
    for (const { id, from } of unansweredPlans(ctx.ref).filter((plan) => !said.has(plan.id))) {
      said.add(id);
      const [approve, reject] = ["approve", "reject"].map((word) => `teams ${word} ${operand(id)}`);
      view.waiting(`${from} still waits for a word on its plan: ${approve}, or ${reject} --note "…"`);
    }
  };
}

/** What the lead's side does by code alone: its mode and rules answer a permission request, or a person is told of it. */
export async function handleCodeOnlyMessage(
  { ctx, view, settings, screen }: Lead,
  { planApproval, permissionRequests }: Worker,
  { message, protocol }: InboxEntry,
): Promise<void> {
  const asked = protocol === undefined ? undefined : askedFor(protocol);
  if (asked === undefined) return;
  const { permissions } = settings();
  const how = await answerPermission(ctx, message.from, asked.request, {
    mode: planApproval.mode,
    rules: { ...permissions, allow: [...permissions.allow, ...permissionRequests.sessionRules] },
    directories: additionalDirectories(settings(), ctx),
  });
  if (how === "person") {
    const where =
      screen === undefined ? "answer in its pane" : "view it (Shift+Down, Enter) and answer there";
    const summary = listRequests(ctx.ref).find(({ id }) => id === asked.id)?.summary;
    // What another program asks for stands in its message alone.
    const what = summary ? `asks: ${cutToWidth(gridText(summary), MOST_ASKED)}` : `asks to ${asked.what}`;
    view.waiting(`${message.from} ${what}: teams approve ${operand(asked.id)}, or ${where}`);
  }
}

/** What a message asks the lead's side to permit; undefined of any other, and of one that cannot be answered. */
function askedFor(message: ProtocolMessage) {
  switch (message.type) {
    case "permission_request":
      return { request: message, id: message.request_id, what: `use ${message.tool_name}` };
    case "sandbox_permission_request":
      if (message.requestId === "" || message.host === "") return undefined;
      return { request: message, id: message.requestId, what: `reach ${message.host}` };
    default:
      return undefined;
  }
}
