import { getEventListeners } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { TeamError } from "../../../src/errors.ts";
import { attempt, ofCaller } from "../../../src/library/attempt.ts";

/** Returns the result or error of a call whose signal aborts, with this reason, before the work ends. */
function abortedCall(work: (signal: AbortSignal) => unknown, reason: unknown = "enough"): Promise<unknown> {
  const stop = new AbortController();
  return attempt(stop.signal, (signal) => {
    stop.abort(reason);
    return work(signal);
  }).catch((error: unknown) => error);
}

const throws = (error: unknown) => (): never => {
  throw error;
};

describe("attempt", () => {
  it("does not start the work if the signal has aborted", async () => {
    let hasRun = false;
    const call = attempt(AbortSignal.abort("late"), () => {
      hasRun = true;
    });
    await expect(call).rejects.toMatchObject({ code: "INTERRUPTED", cause: "late" });
    expect(hasRun).toBe(false);
  });

  it("gives an interruption the reason of the signal, and keeps its other fields", async () => {
    const own = new TeamError("INTERRUPTED", "Half is done.", { hint: "Repeat it.", details: { half: 1 } });
    expect(await abortedCall(throws(own))).toMatchObject({
      ...{ code: "INTERRUPTED", message: "Half is done.", hint: "Repeat it." },
      ...{ details: { half: 1 }, cause: "enough" },
    });
  });

  it("turns the reason itself, and Node's error for it, into an interruption", async () => {
    const reason = new Error("enough");
    expect(await abortedCall(throws(reason), reason)).toMatchObject({ code: "INTERRUPTED", cause: reason });
    const waits = (signal: AbortSignal): Promise<unknown> => delay(60_000, undefined, { signal });
    expect(await abortedCall(waits)).toMatchObject({ code: "INTERRUPTED", cause: "enough" });
  });

  it("keeps another failure even if the signal has aborted", async () => {
    const own = new TeamError("TASK_BLOCKED", "It waits.");
    expect(await abortedCall(throws(own))).toBe(own);
    const callerError = new RangeError("mine");
    expect(await abortedCall(() => ofCaller(throws(callerError)))).toBe(callerError);
  });

  it("returns the result even if the signal has aborted", async () => {
    expect(await abortedCall(() => "done")).toBe("done");
  });

  it("turns a system error into a TeamError, but not an error of the caller", async () => {
    const full = Object.assign(new Error("ENOSPC: no space left on device, write"), {
      ...{ code: "ENOSPC", syscall: "write" },
    });
    await expect(attempt(undefined, throws(full))).rejects.toMatchObject({
      ...{ name: "TeamError", code: "STORAGE_ERROR", cause: full },
    });
    await expect(attempt(undefined, () => ofCaller(throws(full)))).rejects.toBe(full);
  });

  it("leaves no listener on the caller's signal", async () => {
    const { signal } = new AbortController();
    await attempt(signal, async (own) => {
      own.addEventListener("abort", () => undefined);
    });
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });
});
