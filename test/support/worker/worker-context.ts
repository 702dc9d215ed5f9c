import { systemClock } from "../../../src/os/clock.ts";
import type { TeamRef } from "../../../src/team/ref.ts";
import { ManualBell } from "../../../src/wakeup/bell.ts";
import { createWorkerContext, type WorkerContext } from "../../../src/worker/context.ts";
import { createStatusKeeper } from "../../../src/worker/status-record.ts";
import { statusOf } from "../team/status-records.ts";
import { NO_VIEW } from "./empty-view.ts";

/** The context of a teammate's worker that does not run, for a test of one of its parts. */
export function workerContext(ref: TeamRef, name = "dev"): WorkerContext {
  const { sessionId, transcript, process: own } = statusOf();
  const facts = { sessionId, transcript, process: own };
  return createWorkerContext(
    {
      ref,
      name,
      role: "teammate",
      initialMode: "default",
      modeAfterPlan: "default",
      planFile: "/dev/null",
      transcript,
      bell: new ManualBell(() => undefined),
      status: createStatusKeeper(ref, name, facts, undefined, systemClock),
      view: NO_VIEW,
      clock: systemClock,
      signal: new AbortController().signal,
    },
    () => Promise.reject(new Error("This worker does not run.")),
  );
}
