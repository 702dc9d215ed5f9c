import { all, drawable, equals } from "../tmux/format.ts";
import { paneId } from "../tmux/ids.ts";
import { onlyIf } from "../tmux/keys.ts";
import type { Command } from "../tmux/quote.ts";
import { isNoServer, type TmuxServer } from "../tmux/server.ts";
import { TAG } from "./tags.ts";

export interface PaneState {
  readonly state: string;
  /** What it works on: `#3 #5`; empty for nothing. */
  readonly task: string;
}

/**
 * Shows an agent's state and task in the border of its pane, if the pane still is the one of that start. A server that
 * is gone shows nothing, and is no failure.
 */
export async function showPaneState(
  server: TmuxServer,
  pane: string,
  instance: string,
  { state, task }: PaneState,
): Promise<void> {
  const id = paneId(pane);
  if (id === undefined || !/^[\w-]+$/.test(instance)) return;
  const ours = all(equals("pane_id", id), equals(TAG.agent, instance));
  const set = (option: string, value: string): Command =>
    onlyIf(id, ours, ["set-option", "-p", "-t", id, option, drawable(value)]);
  try {
    await server.batch([set(TAG.state, state), set(TAG.task, task)]);
  } catch (error) {
    if (!isNoServer(error)) throw error;
  }
}
