import { onTestFinished } from "vitest";
import type { TeamRef } from "../../../src/team/ref.ts";
import { type RunningWorker, startWorker, type WorkerInput } from "./start-worker.ts";

/** Starts a worker in this process that ends with its test. */
export async function workerOfTest(ref: TeamRef, input: WorkerInput = {}): Promise<RunningWorker> {
  const running = await startWorker(ref, input);
  // A test that awaits the worker has seen its failure.
  onTestFinished(async () => void (await running.stop().catch(() => undefined)));
  return running;
}
