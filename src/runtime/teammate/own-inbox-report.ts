import type { ChannelDialog } from "../../adapter/channel.ts";
import type { ClaudeUsage } from "../../adapter/inbox/claude-usage.ts";
import { entryOf } from "../../os/files/fs.ts";
import type { HookRecord } from "../../schema/status.ts";
import { type ForeignFacts, type ForeignVerdict, SAME_END_MS } from "../../team/members/judge-foreign.ts";
import type { PeerReport, StatusKeeper } from "../../worker/status-record.ts";

/** Returns the report of a CLI that reads its inbox itself. */
export function reportOf(
  { state, stateFrom, activity = "" }: ForeignVerdict,
  { agreedToStop }: ForeignFacts,
): PeerReport {
  return {
    state,
    activity,
    ...(stateFrom !== null && { stateFrom }),
    ...(agreedToStop && { agreedToStop }),
  };
}

/** Whether a hook has reported the end of a turn whose notice is still to come. */
export function isEnding({ turnEnds, now }: ForeignFacts, hook: HookRecord | undefined): boolean {
  if (hook?.event !== "resting" || now - hook.at >= SAME_END_MS) return false;
  return (turnEnds.at(-1)?.at ?? 0) < hook.at - SAME_END_MS;
}

/** Milliseconds between the time of a short turn's idle notice and the poll that sees its message taken (2.1.150). */
export const MARK_MS = 250;

/**
 * Whether a notice ends the turn of the newest message, and was written after the poll that saw that message taken:
 * 2.1.150 gives the notice its time, marks the message, changes the config, and only then writes the notice.
 * @param tookAt when the message was seen to be taken
 */
export function isLateNotice(noticedAt: number, newestTaken: number, tookAt: number | undefined): boolean {
  if (tookAt === undefined) return false;
  return noticedAt > newestTaken && noticedAt <= tookAt && noticedAt >= tookAt - MARK_MS;
}

/**
 * Whether our interrupt ended the turn of the newest message since the last poll. Its key is pressed only after that message was
 * seen to be taken.
 */
export function isInterrupted(hook: HookRecord | undefined, newestTaken: number, polledAt: number): boolean {
  return hook?.event === "interrupted" && hook.at >= polledAt && hook.at > newestTaken;
}

/** If a dialog is expected, a CLI without a session counts as blocked this many milliseconds after its start. */
export const EXPECTED_DIALOG_MS = 3_000;
/** The same if no dialog is expected. */
const UNEXPECTED_DIALOG_MS = 15_000;

interface StartingCli {
  /** The name of its adapter. */
  readonly id: string;
  /** As `memberWord` names it. */
  readonly member: string;
  readonly msSinceStart: number;
  /** The dialog that it shows according to its own file. */
  readonly expected: ChannelDialog | undefined;
}

/** Returns the report of a CLI whose session has not begun: it starts, or shows a dialog. No key may be pressed meanwhile. */
export function startReport({ id, member, msSinceStart, expected }: StartingCli): PeerReport {
  const limit = expected === undefined ? UNEXPECTED_DIALOG_MS : EXPECTED_DIALOG_MS;
  if (msSinceStart < limit) return { state: "starting", activity: "", startDialog: true };
  const dialog = expected ?? {
    name: "its startup dialog",
    remedy: "answer it (trust, login, API key)",
  };
  return blockedReport(id, member, dialog);
}

/** Returns the report of a CLI that is waiting for a person on its own screen. @param id the name of its adapter @param member as `memberWord` names it */
export function blockedReport(id: string, member: string, { name, remedy }: ChannelDialog): PeerReport {
  const activity = `${id} is waiting for a person at ${name}: ${remedy} (teams attach ${member})`;
  return { state: "needs-input", stateFrom: "hook", activity, startDialog: true };
}

/** Whether the conversation of a hook can be continued: before its first turn it has no file. */
export function hasConversation(hook: HookRecord | undefined): boolean {
  return hook?.transcript !== undefined && entryOf(hook.transcript) !== undefined;
}

/** Adds the usage of the CLI's model calls since the last call. Its transcript has no costs. */
export function countTokens(usage: ClaudeUsage, hook: HookRecord | undefined, status: StatusKeeper): void {
  const tokens = hook?.transcript === undefined ? undefined : usage.take(hook.transcript);
  if (tokens !== undefined) status.addSpent(tokens, 0);
}
