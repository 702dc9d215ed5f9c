import type { InProcessBackend } from "../../backend/in-process/in-process-backend.ts";
import { isRunOver, membersWithQuestions, runState } from "../../operations/run/run-state.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import { readStatus } from "../../team/records/read-records.ts";
import type { Lead, LeadRest } from "./lead.ts";

/** The newest turn of a lead that has nothing left to do. */
interface NewestTurn {
  /** How many unread messages start no turn. */
  readonly held: number;
  readonly interrupted: boolean;
  readonly failure: string | undefined;
}

/** Returns why the lead of a client rests; undefined while a teammate or a background task works, which will wake the lead. */
export function restOf({ ctx }: Pick<Lead, "ctx">, turn: NewestTurn): LeadRest | undefined {
  if (turn.interrupted) return "interrupted";
  if (membersWithQuestions(ctx, true).length > 0) return "asking";
  if (!isRunOver(runState(ctx, turn.held))) return undefined;
  if (turn.failure !== undefined) return "failed";
  return (readStatus(ctx.ref, LEAD_NAME)?.background ?? 0) > 0 ? undefined : "done";
}

/** Wakes the lead when all teammates in its process are idle: no file changes that could ring its bell. */
export function wakeWhenAllIdle(inProcess: InProcessBackend, wake: () => void): () => void {
  let isWaiting = false;
  return () => {
    if (isWaiting || inProcess.areAllIdle()) return;
    isWaiting = true;
    void inProcess.whenAllIdle().then(() => {
      isWaiting = false;
      wake();
    });
  };
}
