import { steadyNow } from "../../os/clock.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import { readTeam, teamExists } from "../../team/config/config.ts";
import { peekInbox } from "../../team/inbox/inbox-file.ts";
import { hasUnreadShutdownRequest } from "../../team/mailbox/shutdown-requests.ts";
import { readStatus } from "../../team/records/read-records.ts";
import { openTreeBell } from "../../wakeup/tree-bell.ts";
import type { OperationContext } from "../context.ts";
import { isAlive } from "./kill.ts";

/** Longest time between two polls, in milliseconds: a process that is killed changes no file. */
const POLL_MS = 250;

/**
 * Waits, at most `forMs` milliseconds, for the running teammates that were asked to shut down: until each of them has ended or
 * refused.
 */
export async function awaitShutdowns(
  ctx: OperationContext,
  { forMs, signal }: { readonly forMs: number; readonly signal?: AbortSignal },
): Promise<void> {
  if (!isAwaited(ctx)) return;
  const deadline = steadyNow() + forMs;
  const bell = openTreeBell([ctx.ref.paths.dir]);
  try {
    while (isAwaited(ctx) && steadyNow() < deadline && !signal?.aborted)
      await bell.wait({ timeoutMs: POLL_MS, ...(signal && { signal }) });
  } finally {
    bell.close();
  }
}

function isAwaited(ctx: OperationContext): boolean {
  const { ref } = ctx;
  if (!teamExists(ref)) return false;
  return readTeam(ref).members.some(
    ({ name }) => name !== LEAD_NAME && isAlive(ctx, name) && isLeaving(ctx, name),
  );
}

/** Whether a running teammate has a shutdown request that it has not refused, or ends already. */
function isLeaving({ ref }: OperationContext, name: string): boolean {
  const { shutdownRequested, state } = readStatus(ref, name) ?? {};
  if (shutdownRequested === true || state === "stopping" || state === "exited") return true;
  return hasUnreadShutdownRequest(peekInbox(ref, name), name);
}
