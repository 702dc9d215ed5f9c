import { after } from "../../os/clock.ts";
import type { Env } from "../../os/env.ts";

/** Milliseconds before the first update of the border: members that start together must be ready first. */
const FIRST_SHOWN_MS = 500;

/**
 * Returns a function that shows the agent's state in its pane's border: one forked call per change, with changes in quick
 * succession merged. Loads the tmux driver at the first change, after readiness.
 */
export function paneBorderUpdater(env: Env): (state: string, taskIds: readonly string[]) => void {
  const { TMUX_PANE: pane, TEAMS_INSTANCE: instance } = env;
  if (!env.TMUX || pane === undefined || instance === undefined) return () => undefined;
  let wanted = { state: "", task: "" };
  let isRunning = false;
  let isFirst = true;
  const show = async (): Promise<void> => {
    const [{ showPaneState }, { callersServer }] = await Promise.all([
      import("../../backend/tmux/pane-border.ts"),
      import("../../backend/tmux/server-for.ts"),
    ]);
    const server = callersServer(env);
    for (let shown = { state: "", task: "" }; shown !== wanted; ) {
      shown = wanted;
      await showPaneState(server, pane, instance, shown);
    }
  };
  return (state, taskIds) => {
    wanted = { state, task: taskIds.map((id) => `#${id}`).join(" ") };
    if (isRunning || state === "starting" || state === "exited") return;
    isRunning = true;
    // If tmux fails, the agent continues; its status file has the state.
    const done = (): void => {
      isRunning = false;
    };
    const begin = (): Promise<void> => show().then(done, done);
    if (isFirst) after(FIRST_SHOWN_MS, begin);
    else begin();
    isFirst = false;
  };
}
