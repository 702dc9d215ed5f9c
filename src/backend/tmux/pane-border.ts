import { allOf, equals, escapeDrawnText, onlyIf, type TmuxCommand } from "../../tmux/command.ts";
import { paneId } from "../../tmux/ids.ts";
import { isNoServer, type TmuxServer } from "../../tmux/server.ts";
import { isInstance, isOfStart, TAG } from "./pane-tags.ts";

interface PaneState {
  readonly state: string;
  /** The tasks that the agent works on, such as `#3 #5`; may be empty. */
  readonly task: string;
}

/**
 * Shows an agent's state and tasks in the border of its pane, if the pane still belongs to that start. A missing server is not an
 * error.
 */
export async function showPaneState(
  server: TmuxServer,
  pane: string,
  instance: string,
  { state, task }: PaneState,
): Promise<void> {
  const id = paneId(pane);
  if (id === undefined || !isInstance(instance)) return;
  const ours = allOf(equals("pane_id", id), isOfStart(instance));
  const set = (option: string, value: string): TmuxCommand =>
    onlyIf(id, ours, ["set-option", "-p", "-t", id, option, escapeDrawnText(value)]);
  try {
    // Set the tag too: the spawning process may have been killed before it set the tag.
    await server.batch([set(TAG.agent, instance), set(TAG.state, state), set(TAG.task, task)]);
  } catch (error) {
    if (!isNoServer(error)) throw error;
  }
}
