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
 * @returns whether the CLI has taken it; if not, the turn has ended as interrupted
 * @throws Error if the CLI did not take it in a turn that was not interrupted
 */
export async function deliverText(
  channel: Pick<Channel, "deliver"> | undefined,
  { turn, text, isLast, signal }: Delivery,
  { cli, beforeTurn, limits }: Pick<ChannelAgentOptions, "cli" | "beforeTurn" | "limits">,
): Promise<boolean> {
  const isStopped = (await beforeTurn(signal)) === "stop";
  if (!isStopped) await limits.wait(signal);
  if (isStopped || signal.aborted) {
    turn.settle({ outcome: "interrupted" });
    return false;
  }
  try {
    // An interrupted CLI may never confirm that it took the text.
    await Promise.race([channel?.deliver(text, isLast), turn.result]);
    return true;
  } catch (error) {
    if (!signal.aborted) throw error;
    turn.settle({ outcome: "interrupted", failure: notTaken(cli, error) });
    return false;
  }
}

/** Describes why a CLI did not take a text, for people. */
export function notTaken(cli: string, error: unknown): string {
  return `${cli} did not take the message: ${messageOf(error)}`;
}
