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
  /** Number of unread messages that do not start a turn. */
  readonly held: number;
  readonly interrupted: boolean;
  readonly failure: string | undefined;
}

/** A background command delays the end of a prompt by at most this many milliseconds: a server never ends. */
const COMMAND_LIMIT = 60_000;

/**
 * Returns why the lead of a client rests; undefined while a teammate, a subagent or a recent background command works and will wake
 * the lead.
 * @param wakeIn called with the milliseconds after which the result may change even if nothing ends
 */
export function restOf(
  { ctx }: { readonly ctx: OperationContext },
  turn: NewestTurn,
  wakeIn: (ms: number) => void,
): LeadRest | undefined {
  if (turn.interrupted) return "interrupted";
  if (membersWithQuestions(ctx, true).length > 0) return "asking";
  const waits: number[] = [];
  const count = (name: string, recorded: number): number => {
    const left = commandAges(ctx, name).map((age) => COMMAND_LIMIT - age);
    waits.push(...left.filter((ms) => ms > 0));
    return recorded - left.filter((ms) => ms <= 0).length;
  };
  const isOver = isRunOver(runState(ctx, turn.held, count));
  if (isOver && turn.failure !== undefined) return "failed";
  const { background = 0 } = readStatus(ctx.ref, LEAD_NAME) ?? {};
  if (isOver && (background === 0 || count(LEAD_NAME, background) <= 0)) return "done";
  if (waits.length > 0) wakeIn(Math.min(...waits));
  return undefined;
}

/** Returns how many milliseconds each background command of a member has been running. */
function commandAges({ ref, clock }: OperationContext, name: string): readonly number[] {
  return backgroundTasks(ref, name)
    .filter(({ kind, status }) => kind === "bash" && status === "running")
    .map(({ startedAt }) => Math.max(0, clock.now() - startedAt));
}

/** Returns a function that wakes the lead after some milliseconds. A call replaces the earlier one, which knew other commands. */
export function wakeLater(wake: () => void): (ms: number) => void {
  let cancel = (): void => undefined;
  return (ms) => {
    cancel();
    cancel = afterIfRunning(ms, wake);
  };
}

/** Returns a function that wakes the lead when all teammates in its process are idle: no file change would ring its bell. */
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
