import { isDoneWithin } from "../os/done-within.ts";
import type { ChannelDialog, ChannelEvents, ChannelSetup } from "./channel.ts";

/** Time limits in milliseconds. */
interface ToolsTimeouts {
  /** Until a person is asked for help. */
  readonly ask: number;
  /** From then, until the CLI works without the tools. */
  readonly giveUp: number;
  /** For a CLI whose first message does not wait: until a missing connection is reported. */
  readonly report: number;
}

/** For a CLI whose own screen may show a dialog that delays its tools. */
export const SCREEN_TIMEOUTS: ToolsTimeouts = { ask: 10_000, giveUp: 120_000, report: 60_000 };
/** For a CLI without its own screen: it has no dialog that a person could answer. */
export const PIPE_TIMEOUTS: ToolsTimeouts = { ask: 15_000, giveUp: 30_000, report: 60_000 };

interface ToolsOptions {
  readonly timeouts: ToolsTimeouts;
  /** Aborts when the CLI ends. */
  readonly signal: AbortSignal;
  /** Replaces the dialog that asks the person. */
  readonly dialog?: ChannelDialog;
}

/**
 * Waits until the CLI has read the list of the team's tools, if its first message must wait for that. Meanwhile the member is
 * `needs-input`, with what to do. If the tools are still missing after that, the CLI works without them, which is reported. Any
 * other CLI does not wait: only a missing connection is reported.
 */
export async function awaitTools(
  { adapter, toolsListed }: Pick<ChannelSetup, "adapter" | "toolsListed">,
  events: Pick<ChannelEvents, "blocked" | "withoutTools">,
  { timeouts, signal, dialog }: ToolsOptions,
): Promise<void> {
  const remedy = adapter.withoutTools ?? `check the MCP servers in the settings of ${adapter.command}`;
  const missing = (): void => {
    if (!signal.aborted) events.withoutTools(remedy);
  };
  if (adapter.firstMessageAfter === "session") {
    void isDoneWithin(timeouts.report, toolsListed, signal).then((isDone) => isDone || missing());
    return;
  }
  if ((await isDoneWithin(timeouts.ask, toolsListed, signal)) || signal.aborted) return;
  events.blocked({
    ...(dialog ?? { name: "it has not connected to the team's tools", remedy }),
    isStart: true,
  });
  const isDone = await isDoneWithin(timeouts.giveUp, toolsListed, signal);
  events.blocked(undefined);
  if (!isDone) missing();
}
