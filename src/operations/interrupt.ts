import { TeamError } from "../errors.ts";
import { steadyNow } from "../os/clock.ts";
import { formatProtocol } from "../protocol/messages.ts";
import { LEAD_NAME } from "../schema/names.ts";
import type { AgentState, StatusRecord } from "../schema/status.ts";
import { readTeam } from "../team/config/config.ts";
import { peekInbox } from "../team/inbox/inbox-file.ts";
import { messageKey } from "../team/inbox/inbox-format.ts";
import { sendMessage } from "../team/mailbox/send.ts";
import { judgeLiveness } from "../team/members/judge-liveness.ts";
import { findMember } from "../team/members/members.ts";
import { readExit, readPlace, readStatus } from "../team/records/read-records.ts";
import type { TeamRef } from "../team/ref.ts";
import { hasOpenRequest } from "../team/requests/requests.ts";
import { optionWords } from "../text/shell-quote.ts";
import { openTreeBell } from "../wakeup/tree-bell.ts";
import { type OperationContext, requireLead } from "./context.ts";

/** Milliseconds that an agent has to take the request: it does so at once, whatever it is doing. */
const INTERRUPT_TIMEOUT = 5_000;
/** Longest wait between two looks, in milliseconds: the net for a directory that cannot be watched. */
const POLL_MS = 1_000;

/** States of an agent in a turn. */
const IN_TURN: ReadonlySet<AgentState> = new Set(["running", "throttled", "needs-input"]);

export interface InterruptReport {
  readonly name: string;
  /**
   * `interrupted`: its turn is over, and it goes on with what waits. `idle`: it was in none, and nothing was sent.
   * `asked`: nobody can see from here what a foreign agent does about it.
   */
  readonly outcome: "interrupted" | "idle" | "asked";
}

/**
 * Ends the turn that an agent is in, and keeps the agent.
 * @throws TeamError NOT_LEAD, AGENT_NOT_FOUND; RECIPIENT_INACTIVE when it does not run; TIMEOUT when it has not taken the request
 */
export async function interruptAgent(
  ctx: OperationContext,
  given: string,
  {
    timeoutMs = INTERRUPT_TIMEOUT,
    signal,
  }: { readonly timeoutMs?: number; readonly signal?: AbortSignal } = {},
): Promise<InterruptReport> {
  const { ref, clock } = ctx;
  requireLead(ctx, "interrupt a turn");
  const member = findMember(readTeam(ref), given);
  const { name } = member;
  const records = { status: readStatus(ref, name), place: readPlace(ref, name), exit: readExit(ref, name) };
  const { alive, state } = judgeLiveness(member, records);
  if (alive === false || (name === LEAD_NAME && records.status === undefined)) {
    throw new TeamError("RECIPIENT_INACTIVE", `${name} is not running, so there is nothing to interrupt.`, {
      hint: `What is known of it: teams status ${optionWords("--team", ref.team)}`,
    });
  }
  // What waits for the answer to a question has ended its turn; a permission may be asked for by one that works behind it.
  const asksAtRest = records.status?.resting === true || !hasOpenRequest(ref, name, "permission");
  const isAtRest = !IN_TURN.has(state) || (state === "needs-input" && asksAtRest);
  // One that stands for want of a budget may do so in a turn.
  if (alive === true && isAtRest && state !== "paused") return { name, outcome: "idle" };
  // Before it is sent: what is taken at once is heard of.
  const bell = openTreeBell([ref.paths.dir]);
  try {
    const text = formatProtocol({ type: "interrupt_request", from: LEAD_NAME }, new Date(clock.now()));
    const { messageId } = await sendMessage(ref, { from: LEAD_NAME, to: name, text });
    if (alive === null) return { name, outcome: "asked" };
    const deadline = steadyNow() + timeoutMs;
    while (isUnread(ref, name, messageId) || isSameTurn(readStatus(ref, name), records.status)) {
      const remaining = deadline - steadyNow();
      if (remaining <= 0 || signal?.aborted) throw notTaken(name, timeoutMs);
      const waited = {
        timeoutMs: Math.min(remaining, POLL_MS),
        ...(signal === undefined ? {} : { signal }),
      };
      await bell.wait(waited);
    }
    return { name, outcome: "interrupted" };
  } finally {
    bell.close();
  }
}

function isUnread(ref: TeamRef, name: string, id: string): boolean {
  return peekInbox(ref, name).some((message) => !message.read && messageKey(message) === id);
}

/** Whether it is still as it was: what waits may have begun its next turn already. */
function isSameTurn(now: StatusRecord | undefined, before: StatusRecord | undefined): boolean {
  return now !== undefined && IN_TURN.has(now.state) && now.since === before?.since;
}

function notTaken(name: string, timeoutMs: number): TeamError {
  return new TeamError(
    "TIMEOUT",
    `${name} did not take the interrupt within ${timeoutMs / 1000} s; the request waits in its inbox.`,
    {
      hint: `See what it does: teams peek ${name}. To end it: teams kill ${name}`,
    },
  );
}
