import { onTestFinished } from "vitest";
import type { TeamRef } from "../../../src/team/ref.ts";
import { type RunningWorker, startWorker, type WorkerInput } from "./start-worker.ts";

/** A worker in this process that ends with its test, however that ends. */
export async function workerOfTest(ref: TeamRef, input: WorkerInput = {}): Promise<RunningWorker> {
  const running = await startWorker(ref, input);
  // One that failed has said so where it was waited for.
  onTestFinished(async () => void (await running.stop().catch(() => undefined)));
  return running;
}
