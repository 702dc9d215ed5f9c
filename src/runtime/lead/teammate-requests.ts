import { listApprovals, unansweredPlans } from "../../operations/approvals/approvals.ts";
import { decideByLeadRules } from "../../operations/approvals/decide-by-lead-rules.ts";
import type { ProtocolMessage } from "../../protocol/messages.ts";
import { sameName } from "../../schema/names.ts";
import { additionalDirectories } from "../../settings/settings.ts";
import { memberWord } from "../../team/address-words.ts";
import { readTeam } from "../../team/config/config.ts";
import type { InboxEntry } from "../../team/mailbox/receive.ts";
import { cutToWidth } from "../../text/cell-width.ts";
import { operand } from "../../text/shell-quote.ts";
import { shortCall } from "../../text/short-call.ts";
import { gridText } from "../../text/terminal-text.ts";
import type { Worker } from "../../worker/worker.ts";
import type { Lead } from "./lead.ts";

/** Maximum columns of a requested call; the teammate's pane shows all of it. */
const MAX_SUMMARY_WIDTH = 200;

/** Returns a function that notifies the user once per plan that the lead has not answered. */
export function notifyUnansweredPlans({ ctx, view }: Lead): () => void {
  const notified = new Set<string>();
  return () => {
    for (const { id, from } of unansweredPlans(ctx.ref).filter((plan) => !notified.has(plan.id))) {
      notified.add(id);
      const [approve, reject] = ["approve", "reject"].map((word) => `teams ${word} ${operand(id)}`);
      const how = `${approve}, or ${reject} --note "…"`;
      view.waiting(`${from} is still waiting for an answer to its plan: ${how}`, "person", id);
    }
  };
}

/** Answers a permission request by the lead's mode and rules, without its model, or asks the user. */
export async function answerTeammateRequest(
  { ctx, view, settings, screen }: Lead,
  { planApproval, permissionRequests }: Worker,
  { message, protocol }: InboxEntry,
): Promise<void> {
  const wanted = protocol === undefined ? undefined : permissionRequestIn(protocol);
  if (wanted === undefined) return;
  const { permissions } = settings();
  const decision = await decideByLeadRules(ctx, message.from, wanted.request, {
    mode: planApproval.mode,
    rules: { ...permissions, allow: [...permissions.allow, ...permissionRequests.sessionRules] },
    directories: additionalDirectories(settings(), ctx),
  });
  if (decision === "person") {
    const open = listApprovals(ctx.ref);
    const where = screen === undefined ? "in its pane" : "in its view (Shift+Down, Enter)";
    const own = open.filter(({ from }) => sameName(from, message.from));
    const { summary, partial, change } = own.find(({ id }) => id === wanted.id) ?? {};
    const { cwd } = readTeam(ctx.ref).members.find(({ name }) => name === message.from) ?? {};
    const { text } = shortCall(summary ?? wanted.action, cwd, MAX_SUMMARY_WIDTH);
    const shown = cutToWidth(gridText(text), MAX_SUMMARY_WIDTH);
    // A request of another program may have no record, only its message.
    const request = summary ? `asks: ${shown}` : `asks to ${shown}`;
    // The member's name means its oldest request.
    const isOldest = own[0]?.id === wanted.id;
    const which = isOldest ? memberWord(ctx.ref, message.from, ctx.env) : operand(wanted.id);
    const isPart = partial === true || change !== undefined || shown.includes("…");
    const command = `teams approve ${which}${isPart ? ", which shows all of it" : ""}`;
    view.waiting(`${message.from} ${request}; answer with ${command}, or ${where}`, "person", wanted.id);
  }
}

/** Returns undefined if the message is not a permission request, or cannot be answered. */
function permissionRequestIn(message: ProtocolMessage) {
  switch (message.type) {
    case "permission_request":
      return { request: message, id: message.request_id, action: `use ${message.tool_name}` };
    case "sandbox_permission_request":
      if (message.requestId === "" || message.host === "") return undefined;
      return { request: message, id: message.requestId, action: `reach ${message.host}` };
    default:
      return undefined;
  }
}
