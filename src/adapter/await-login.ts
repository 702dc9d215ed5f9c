import { TeamError } from "../errors.ts";
import { pause, steadyNow } from "../os/clock.ts";
import type { Adapter } from "./adapter-schema.ts";
import type { ChannelEvents } from "./channel.ts";

/** Milliseconds between two attempts. */
const RETRY_MS = 2_000;
/** Milliseconds until the start fails. */
const GIVE_UP_MS = 600_000;

/** An attempt failed because the CLI has no login. */
export class LoginMissing extends Error {}

/**
 * Repeats an attempt until the CLI has a login. Meanwhile the member is `needs-input` and shows how to log in.
 * @param signal aborts when the CLI ends
 * @throws TeamError SPAWN_FAILED after ten minutes; any other error of the attempt at once
 */
export async function whenLoggedIn<T>(
  { id, command, login }: Adapter,
  events: Pick<ChannelEvents, "blocked">,
  signal: AbortSignal,
  attempt: () => Promise<T>,
): Promise<T> {
  const remedy = `log in with ${login.hint ?? command}`;
  const deadline = steadyNow() + GIVE_UP_MS;
  let isBlocked = false;
  try {
    for (;;) {
      try {
        return await attempt();
      } catch (error) {
        if (!(error instanceof LoginMissing) || signal.aborted) throw error;
        if (steadyNow() > deadline) {
          const minutes = GIVE_UP_MS / 60_000;
          const text = `${id} was still not logged in after ${minutes} minutes, so it was ended.`;
          throw new TeamError("SPAWN_FAILED", text, {
            hint: `Log in with ${login.hint ?? command}, then start the member again.`,
            cause: error,
          });
        }
      }
      if (!isBlocked) events.blocked({ name: `${id} is not logged in`, remedy, isStart: true });
      isBlocked = true;
      await pause(RETRY_MS, signal);
    }
  } finally {
    if (isBlocked) events.blocked(undefined);
  }
}
