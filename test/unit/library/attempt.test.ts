import { getEventListeners } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { TeamError } from "../../../src/errors.ts";
import { attempt, ofCaller } from "../../../src/library/attempt.ts";

/** An aborted call: its signal aborts, with this reason, before the work fails. */
function abortedCall(fails: (signal: AbortSignal) => unknown, reason: unknown = "enough"): Promise<unknown> {
  const stop = new AbortController();
  return attempt(stop.signal, (signal) => {
    stop.abort(reason);
    return fails(signal);
  }).catch((error: unknown) => error);
}

const throws = (error: unknown) => (): never => {
  throw error;
};

describe("attempt", () => {
  it("does nothing if the signal has aborted", async () => {
    let hasRun = false;
    const call = attempt(AbortSignal.abort("late"), () => {
      hasRun = true;
    });
    await expect(call).rejects.toMatchObject({ code: "INTERRUPTED", cause: "late" });
    expect(hasRun).toBe(false);
  });

  it("gives an interruption the reason of the signal, and keeps the rest", async () => {
    const own = new TeamError("INTERRUPTED", "Half is done.", { hint: "Repeat it.", details: { half: 1 } });
    expect(await abortedCall(throws(own))).toMatchObject({
      ...{ code: "INTERRUPTED", message: "Half is done.", hint: "Repeat it." },
      ...{ details: { half: 1 }, cause: "enough" },
    });
  });

  it("makes an interruption of the reason itself, and of Node's error for it", async () => {
    const reason = new Error("enough");
    expect(await abortedCall(throws(reason), reason)).toMatchObject({ code: "INTERRUPTED", cause: reason });
    const waits = (signal: AbortSignal): Promise<unknown> => delay(60_000, undefined, { signal });
    expect(await abortedCall(waits)).toMatchObject({ code: "INTERRUPTED", cause: "enough" });
  });

  it("keeps another failure although the signal has aborted", async () => {
    const own = new TeamError("TASK_BLOCKED", "It waits.");
    expect(await abortedCall(throws(own))).toBe(own);
    const callers = new RangeError("mine");
    expect(await abortedCall(() => ofCaller(throws(callers)))).toBe(callers);
  });

  it("returns what was done although the signal has aborted", async () => {
    expect(await abortedCall(() => "done")).toBe("done");
  });

  it("makes an error of the library of one of the system, but not of the caller's", async () => {
    const full = Object.assign(new Error("ENOSPC: no space left on device, write"), {
      ...{ code: "ENOSPC", syscall: "write" },
    });
    await expect(attempt(undefined, throws(full))).rejects.toMatchObject({
      ...{ name: "TeamError", code: "STORAGE_ERROR", cause: full },
    });
    await expect(attempt(undefined, () => ofCaller(throws(full)))).rejects.toBe(full);
  });

  it("leaves no listener at the signal of the caller", async () => {
    const { signal } = new AbortController();
    await attempt(signal, async (own) => {
      own.addEventListener("abort", () => undefined);
    });
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });
});
