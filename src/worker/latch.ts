/** Remembers that something happened until somebody has waited for it; many causes make one waking. */
export interface Latch {
  set(): void;
  /** Ends at once when it was set since the last wait, else at the next `set` or the abort. */
  wait(signal: AbortSignal): Promise<void>;
}

export function createLatch(): Latch {
  let isSet = false;
  let wake: (() => void) | undefined;
  return {
    set() {
      isSet = true;
      wake?.();
    },
    async wait(signal) {
      if (!isSet && !signal.aborted) {
        await new Promise<void>((resolve) => {
          const done = (): void => {
            signal.removeEventListener("abort", done);
            wake = undefined;
            resolve();
          };
          wake = done;
          signal.addEventListener("abort", done);
        });
      }
      isSet = false;
    },
  };
}
