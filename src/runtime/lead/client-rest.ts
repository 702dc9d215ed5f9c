import type { InProcessBackend } from "../../backend/in-process/in-process-backend.ts";
import { backgroundTasks } from "../../operations/background.ts";
import type { OperationContext } from "../../operations/context.ts";
import { isRunOver, membersWithQuestions, runState } from "../../operations/run/run-state.ts";
import { afterIfRunning } from "../../os/clock.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import { readStatus } from "../../team/records/read-records.ts";
import type { LeadRest } from "./lead.ts";

/** The newest turn of a lead that has nothing left to do. */
interface NewestTurn {
  /** How many unread messages start no turn. */
  readonly held: number;
  readonly interrupted: boolean;
  readonly failure: string | undefined;
}

/** Milliseconds that a background command of the lead delays the end of a prompt: a server never ends. */
const COMMAND_LIMIT = 60_000;

/**
 * Returns why the lead of a client rests; undefined while a teammate, a subagent or a young background command works, which will wake the
 * lead.
 * @param wakeIn called with the milliseconds after which the answer changes although nothing ends
 */
export function restOf(
  { ctx }: { readonly ctx: OperationContext },
  turn: NewestTurn,
  wakeIn: (ms: number) => void,
): LeadRest | undefined {
  if (turn.interrupted) return "interrupted";
  if (membersWithQuestions(ctx, true).length > 0) return "asking";
  if (!isRunOver(runState(ctx, turn.held))) return undefined;
  if (turn.failure !== undefined) return "failed";
  const { background = 0 } = readStatus(ctx.ref, LEAD_NAME) ?? {};
  if (background === 0) return "done";
  const ages = commandAges(ctx);
  const young = ages.filter((age) => age < COMMAND_LIMIT);
  if (ages.length - young.length >= background) return "done";
  if (young.length > 0) wakeIn(COMMAND_LIMIT - Math.max(...young));
  return undefined;
}

/** Returns for how many milliseconds each command runs in the lead's background. */
function commandAges({ ref, clock }: OperationContext): readonly number[] {
  return backgroundTasks(ref, LEAD_NAME)
    .filter(({ kind, status }) => kind === "bash" && status === "running")
    .map(({ startedAt }) => Math.max(0, clock.now() - startedAt));
}

/** Wakes the lead after some milliseconds; a call before that changes nothing. */
export function wakeLater(wake: () => void): (ms: number) => void {
  let isWaiting = false;
  return (ms) => {
    if (isWaiting) return;
    isWaiting = true;
    afterIfRunning(ms, () => {
      isWaiting = false;
      wake();
    });
  };
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
