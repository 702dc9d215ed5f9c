import { steadyNow } from "../os/clock.ts";

/** Milliseconds in which a second Ctrl-C confirms the first. A Ctrl-C that discards a typed line does not count. */
const CONFIRM_MS = 3_000;

/**
 * Decides which Ctrl-C ends an agent: a second one soon after the first with nothing typed in between, or any one while the
 * agent ends.
 * @param warn tells the user that a second Ctrl-C ends the agent
 */
export function onDoubleInterrupt(
  warn: () => void,
  ending: AbortSignal,
): { press(dropped: boolean): boolean; forget(): void } {
  let until = Number.NEGATIVE_INFINITY;
  return {
    press(dropped) {
      const now = steadyNow();
      if (ending.aborted || (now <= until && !dropped)) return true;
      until = dropped ? Number.NEGATIVE_INFINITY : now + CONFIRM_MS;
      if (dropped) return false;
      warn();
      return false;
    },
    forget() {
      until = Number.NEGATIVE_INFINITY;
    },
  };
}
