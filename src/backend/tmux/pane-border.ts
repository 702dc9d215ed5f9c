import { onlyIf, type TmuxCommand } from "../../tmux/command.ts";
import { all, drawable, equals } from "../../tmux/format.ts";
import { paneId } from "../../tmux/ids.ts";
import { isNoServer, type TmuxServer } from "../../tmux/server.ts";
import { isInstance, isOfStart, TAG } from "./pane-tags.ts";

interface PaneState {
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
  if (id === undefined || !isInstance(instance)) return;
  const ours = all(equals("pane_id", id), isOfStart(instance));
  const set = (option: string, value: string): TmuxCommand =>
    onlyIf(id, ours, ["set-option", "-p", "-t", id, option, drawable(value)]);
  try {
    // Its mark too: whoever made the pane may have been killed before it was there.
    await server.batch([set(TAG.agent, instance), set(TAG.state, state), set(TAG.task, task)]);
  } catch (error) {
    if (!isNoServer(error)) throw error;
  }
}
