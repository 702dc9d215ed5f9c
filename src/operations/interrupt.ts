import { TeamError } from "../errors.ts";
import { steadyNow } from "../os/clock.ts";
import { formatProtocol } from "../protocol/messages.ts";
import type { TeamMember } from "../schema/config.ts";
import { readMetadata } from "../schema/member-metadata.ts";
import { LEAD_NAME } from "../schema/names.ts";
import type { AgentState, StatusRecord } from "../schema/status.ts";
import { memberWord } from "../team/address-words.ts";
import { readTeam } from "../team/config/config.ts";
import { peekInbox } from "../team/inbox/inbox-file.ts";
import { messageKey } from "../team/inbox/inbox-format.ts";
import { sendMessage } from "../team/mailbox/send.ts";
import { type AgentRecords, judgeLiveness } from "../team/members/judge-liveness.ts";
import { findMember } from "../team/members/members.ts";
import { readExit, readPlace, readStatus } from "../team/records/read-records.ts";
import type { TeamRef } from "../team/ref.ts";
import { optionWords } from "../text/shell-quote.ts";
import { openTreeBell } from "../wakeup/tree-bell.ts";
import { type OperationContext, requireLead } from "./context.ts";
import { isBetweenTurns } from "./processes/between-turns.ts";
import { isForeignMember } from "./processes/foreign-members.ts";

/** Milliseconds to wait for the agent, which handles an interrupt at once in every state. */
const INTERRUPT_TIMEOUT = 5_000;
/** Longest time between two polls, in milliseconds, for a directory that cannot be watched. */
const POLL_MS = 1_000;

/** The states of an agent during a turn. */
const IN_TURN: ReadonlySet<AgentState> = new Set(["running", "throttled", "needs-input"]);

export interface InterruptReport {
  readonly name: string;
  /**
   * `interrupted`: the turn ended, and the agent continues with its queue. `idle`: the agent was not in a turn, and nothing was
   * sent. `asked`: the request was sent to an agent whose state is unknown here, so its effect is unknown, too. `pressed`: a
   * key was pressed in the pane of a program whose turns are unseen, or that reads its inbox itself.
   */
  readonly outcome: "interrupted" | "idle" | "asked" | "pressed";
  /** With `pressed`: whether a later state shows the end of the turn. A program that is only typed to does not report it. */
  readonly endsSeen?: boolean;
}

/**
 * Ends an agent's current turn; the agent continues to run.
 * @throws TeamError NOT_LEAD, AGENT_NOT_FOUND; RECIPIENT_INACTIVE if the agent does not run; TIMEOUT if it does not react in time;
 * INTERRUPTED if the signal aborts: then the agent has the request
 */
export async function interruptAgent(
  ctx: OperationContext,
  memberName: string,
  {
    timeoutMs = INTERRUPT_TIMEOUT,
    signal,
  }: { readonly timeoutMs?: number; readonly signal?: AbortSignal } = {},
): Promise<InterruptReport> {
  const { ref, clock } = ctx;
  requireLead(ctx, "interrupt a turn");
  const member = findMember(readTeam(ref), memberName);
  const { name } = member;
  const records = { status: readStatus(ref, name), place: readPlace(ref, name), exit: readExit(ref, name) };
  const byKey = await interruptByKey(ctx, member, records);
  if (byKey !== undefined) return byKey;
  const verdict = judgeLiveness(member, records);
  const { alive, state } = verdict;
  if (alive === false || (name === LEAD_NAME && records.status === undefined)) {
    throw new TeamError("RECIPIENT_INACTIVE", `${name} is not running, so there is nothing to interrupt.`, {
      hint: `See its state: teams status ${optionWords("--team", ref.team)}`,
    });
  }
  if (alive === true && isBetweenTurns(ref, member, verdict, records.status))
    return { name, outcome: "idle" };
  // Opened before the request is sent, so that a quick reaction is not missed.
  const bell = openTreeBell([ref.paths.dir]);
  try {
    const text = formatProtocol({ type: "interrupt_request", from: LEAD_NAME }, new Date(clock.now()));
    const { messageId } = await sendMessage(ref, { from: LEAD_NAME, to: name, text });
    if (alive === null) return { name, outcome: "asked" };
    const deadline = steadyNow() + timeoutMs;
    while (isUnread(ref, name, messageId) || isSameTurn(readStatus(ref, name), records.status)) {
      const remaining = deadline - steadyNow();
      if (signal?.aborted) throw waitInterrupted(memberWord(ref, name), name);
      if (remaining <= 0) throw interruptTimeout(memberWord(ref, name), name, timeoutMs);
      const waited = {
        timeoutMs: Math.min(remaining, POLL_MS),
        ...(signal === undefined ? {} : { signal }),
      };
      await bell.wait(waited);
    }
    // In needs-input, a message that could not be typed was waiting; the interrupt ended that wait.
    const isTyped = readMetadata(member, "typed") === true && state !== "needs-input";
    return isTyped || state === "unknown"
      ? { name, outcome: "pressed", endsSeen: false }
      : { name, outcome: "interrupted" };
  } finally {
    bell.close();
  }
}

/** Interrupts a program that reads its inbox itself, in its pane. @returns undefined for teams' own agent, and without a proven pane */
async function interruptByKey(
  ctx: OperationContext,
  member: TeamMember,
  records: AgentRecords,
): Promise<InterruptReport | undefined> {
  const { name } = member;
  const { status, place } = records;
  if (isForeignMember(ctx.ref, member)) {
    const { interruptForeign } = await import("./interrupt-foreign.ts");
    const outcome = await interruptForeign(ctx, name);
    return outcome === "unproven" ? undefined : { name, outcome };
  }
  if (status?.ownInbox !== true || judgeLiveness(member, records).alive === false) return undefined;
  const { interruptOnScreen } = await import("./interrupt-foreign.ts");
  return { name, outcome: await interruptOnScreen(ctx, member, status, place) };
}

function isUnread(ref: TeamRef, name: string, id: string): boolean {
  return peekInbox(ref, name).some((message) => !message.read && messageKey(message) === id);
}

/** Whether the agent is still in the same turn; it may already be in the next one. */
function isSameTurn(now: StatusRecord | undefined, before: StatusRecord | undefined): boolean {
  return now !== undefined && IN_TURN.has(now.state) && now.since === before?.since;
}

function waitInterrupted(word: string, name: string): TeamError {
  return new TeamError(
    "INTERRUPTED",
    `Interrupted while waiting for ${name} to end its turn; ${name} was asked to, and may still do so.`,
    { hint: `See what it is doing: teams peek ${word}` },
  );
}

function interruptTimeout(word: string, name: string, timeoutMs: number): TeamError {
  return new TeamError(
    "TIMEOUT",
    `${name} did not react to the interrupt within ${timeoutMs / 1000} s; it may still end its turn.`,
    {
      hint: `See what it is doing: teams peek ${word}. To end it: teams kill ${word}`,
    },
  );
}
