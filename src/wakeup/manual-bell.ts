import { after } from "../os/clock.ts";
import type { Bell, WaitOptions } from "./bell.ts";

type Outcome = "rung" | "timeout" | "aborted";

/**
 * What every bell has in common: rings that nobody waited for are kept as one, and those who wait are woken together.
 * @param release what the bell holds, given back once at `close`
 */
export class ManualBell implements Bell {
  private rung = false;
  private closed = false;
  private readonly waiting = new Set<(outcome: Outcome) => void>();
  private readonly release: () => void;

  constructor(release: () => void) {
    this.release = release;
  }

  ring(): void {
    if (this.closed) return;
    this.rung = true;
    this.wake("rung");
  }

  wait({ signal, timeoutMs }: WaitOptions = {}): Promise<Outcome> {
    if (this.closed || signal?.aborted) return Promise.resolve("aborted");
    if (this.rung) {
      this.rung = false;
      return Promise.resolve("rung");
    }
    return new Promise((resolve) => {
      const cancel = timeoutMs === undefined ? undefined : after(timeoutMs, () => end("timeout"));
      const onAbort = (): void => end("aborted");
      const end = (outcome: Outcome): void => {
        cancel?.();
        signal?.removeEventListener("abort", onAbort);
        this.waiting.delete(end);
        if (outcome === "rung") this.rung = false;
        resolve(outcome);
      };
      signal?.addEventListener("abort", onAbort);
      this.waiting.add(end);
    });
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.wake("aborted");
    this.release();
  }

  private wake(outcome: Outcome): void {
    for (const end of [...this.waiting]) end(outcome);
  }
}
