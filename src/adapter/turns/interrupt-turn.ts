import type { TurnResult } from "../../agent/turn/turn.ts";
import { messageOf } from "../../errors.ts";
import { after } from "../../os/clock.ts";
import type { Channel } from "../channel.ts";
import type { ChannelAgentOptions } from "../channel-agent-options.ts";
import { type OpenTurn, onAbort } from "./open-turn.ts";
import type { TurnPauses } from "./turn-pauses.ts";

/** Time limit in milliseconds for a CLI to end an interrupted turn. */
const INTERRUPT_MS = 5_000;

interface InterruptibleTurn {
  readonly turn: OpenTurn;
  readonly pauses: Pick<TurnPauses, "cancel" | "isWaiting">;
  readonly channel: Pick<Channel, "interrupt"> | undefined;
  /** Whether the CLI runs no turn: the text waits for a budget or a limit, and no person has begun a turn. */
  readonly isIdle: () => boolean;
}

/**
 * Interrupts the CLI when the signal aborts. If the CLI does not end its turn in time, our turn ends anyway.
 * @returns a function that stops waiting for the signal and for the end
 */
export function interruptOnAbort(
  { turn, pauses, channel, isIdle }: InterruptibleTurn,
  signal: AbortSignal,
  { cli, note }: Pick<ChannelAgentOptions, "cli" | "note">,
): () => void {
  return onAbort(signal, () => {
    pauses.cancel();
    // An idle program gets no interrupt key. A person's turn is interrupted too: the whole member must stop.
    if (pauses.isWaiting(turn) || isIdle()) {
      turn.settle({ outcome: "interrupted" });
      return () => undefined;
    }
    channel?.interrupt().catch((error: unknown) => note(messageOf(error)));
    return after(INTERRUPT_MS, () => {
      note(`${cli} has not confirmed the interrupt`);
      turn.settle({ outcome: "interrupted" });
    });
  });
}

/** Waits for the end of a person's turn; interrupts it when the signal aborts. @returns its result */
export async function followTurn(
  running: Omit<InterruptibleTurn, "isIdle">,
  signal: AbortSignal,
  options: Pick<ChannelAgentOptions, "cli" | "note">,
): Promise<TurnResult> {
  const { turn } = running;
  const stopWaiting = interruptOnAbort({ ...running, isIdle: () => turn.closed.aborted }, signal, options);
  const result = await turn.result;
  stopWaiting();
  return result;
}
