import { messageOf } from "../../errors.ts";
import type { Channel } from "../channel.ts";
import type { ChannelAgentOptions } from "../channel-agent-options.ts";
import type { OpenTurn } from "./open-turn.ts";

interface Delivery {
  readonly turn: OpenTurn;
  readonly text: string;
  /** Whether the text asks the program to end after this turn. */
  readonly isLast: boolean;
  /** Aborts when the turn is interrupted. */
  readonly signal: AbortSignal;
}

/**
 * Delivers the text of a turn once budgets and limits allow it.
 * @returns whether the CLI has taken it; if not, the turn has ended
 */
export async function deliverText(
  channel: Pick<Channel, "deliver"> | undefined,
  { turn, text, isLast, signal }: Delivery,
  options: Pick<ChannelAgentOptions, "cli" | "beforeTurn" | "limits" | "hidesTurnEnds">,
): Promise<boolean> {
  const { cli, beforeTurn, limits, hidesTurnEnds } = options;
  // The CLI may end meanwhile.
  const over = AbortSignal.any([signal, turn.closed]);
  const isStopped = (await beforeTurn(over)) === "stop";
  if (!isStopped) await limits.wait(over);
  if (isStopped || over.aborted) {
    turn.settle({ outcome: "interrupted" });
    return false;
  }
  try {
    const delivered = channel?.deliver(text, isLast);
    // An interrupted CLI may never confirm that it took the text.
    await Promise.race([delivered, turn.result]);
    // The typed text may end the program before the typing is reported: only the report shows whether the text was typed.
    if (hidesTurnEnds) await delivered;
    return true;
  } catch (error) {
    turn.settle({ outcome: signal.aborted ? "interrupted" : "failed", failure: notTaken(cli, error) });
    return false;
  }
}

/** Describes why a CLI did not take a text, for people. */
function notTaken(cli: string, error: unknown): string {
  return `${cli} did not take the message: ${messageOf(error)}`;
}
