import { TeamError } from "../../errors.ts";
import { systemClock } from "../../os/clock.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import { isJournalled } from "../../team/inbox/inbox-recovery.ts";
import type { MessageView } from "../../team/mailbox/history.ts";
import { markAsRead, unreadMessages } from "../../team/mailbox/receive.ts";
import type { TeamRef } from "../../team/ref.ts";
import type { OpenTeam } from "../select-team.ts";

/**
 * Checks that the caller may mark messages as read. An agent marks its messages itself, once they are in its conversation:
 * a message that another process marks would never reach it.
 * @param inAgentsShell whether the caller is an agent, which may only mark its own messages
 * @throws TeamError NOT_LEAD, INVALID_INPUT
 */
export function requireMayMark(open: OpenTeam, name: string, inAgentsShell: boolean): void {
  const { ref, actor } = open;
  const isOwn = inAgentsShell && name === actor;
  if (inAgentsShell && !isOwn) {
    throw new TeamError("NOT_LEAD", `The messages belong to ${name}, not to ${actor}; nothing was marked.`, {
      hint: "Read them without --mark-read.",
    });
  }
  if (isOwn || isLedByHand(open, name) || !isJournalled(ref, name)) return;
  throw new TeamError(
    "INVALID_INPUT",
    `${name} reads its messages itself, and would miss a message that you mark; nothing was marked.`,
    {
      hint: "Read them without --mark-read.",
    },
  );
}

/** Whether this is the inbox of a lead without a process: the person who leads reads it with this command. */
export function isLedByHand({ config }: OpenTeam, name: string): boolean {
  return name === LEAD_NAME && config.leadProcess === undefined;
}

/** Marks messages as read. @param shown the messages; a message that is no longer in the inbox is ignored */
export async function markRead(
  ref: TeamRef,
  name: string,
  shown: readonly MessageView[],
  warn: (repair: string) => void,
): Promise<void> {
  if (shown.every(({ read }) => read)) return;
  const ids = new Set(shown.map(({ id }) => id));
  const keys = (await unreadMessages(ref, name, { warn }))
    .map(({ key }) => key)
    .filter((key) => ids.has(key));
  if (keys.length > 0) await markAsRead(ref, name, keys, systemClock, warn);
}
