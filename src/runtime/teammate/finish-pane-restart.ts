import { messageOf } from "../../errors.ts";
import { completePaneRestart } from "../../operations/resume/restart-in-pane.ts";
import type { AnyCall } from "../../terminal/call.ts";
import { filesContext } from "../operation-context.ts";
import type { RunningTeammate } from "./running-teammate.ts";

/**
 * Restores the tasks of a member that a person restarted in its pane. A failure does not prevent its start; the next
 * start tries again.
 */
export async function finishPaneRestart(
  call: AnyCall,
  { ref, name, config, view }: RunningTeammate,
): Promise<void> {
  try {
    const ctx = filesContext(call, { home: ref.home, ref, config, actor: name });
    const restored = await completePaneRestart(ctx, name);
    if (restored.length > 0)
      view.note(`its tasks were restored: ${restored.map((id) => `#${id}`).join(", ")}`);
  } catch (error) {
    view.error(
      `its restart could not be completed, so tasks may be unassigned; the next restart tries again: ${messageOf(error)}`,
    );
  }
}
