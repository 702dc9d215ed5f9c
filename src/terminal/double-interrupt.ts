import { steadyNow } from "../os/clock.ts";

/** Milliseconds in which a second Ctrl-C says that the first was meant: who drops a line with it is warned in time. */
const MEANT_MS = 3_000;

/**
 * Which Ctrl-C ends an agent: one that follows another soon, with nothing typed in between, or finds it ending.
 * @param tell says what a second one does
 */
export function onDoubleInterrupt(
  tell: () => void,
  ending: AbortSignal,
): { press(dropped: boolean): boolean; forget(): void } {
  let until = Number.NEGATIVE_INFINITY;
  return {
    press(dropped) {
      const now = steadyNow();
      if (ending.aborted || (now <= until && !dropped)) return true;
      until = now + MEANT_MS;
      tell();
      return false;
    },
    forget() {
      until = Number.NEGATIVE_INFINITY;
    },
  };
}
