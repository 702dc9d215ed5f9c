import { after } from "../../os/clock.ts";
import type { Env } from "../../os/env.ts";

/** Milliseconds before the first look of a border: it is decoration, and many who start at once are to be ready first. */
const FIRST_SHOWN_MS = 500;

/**
 * Keeps the border of this agent's pane in step with its state: one forked call a change, several changes in a row as
 * one, none in idle. tmux's driver is loaded at the first change, some time behind readiness.
 */
export function paneBorderUpdater(env: Env): (state: string, taskIds: readonly string[]) => void {
  const { TMUX_PANE: pane, TEAMS_INSTANCE: instance } = env;
  if (!env.TMUX || pane === undefined || instance === undefined) return () => undefined;
  let wanted = { state: "", task: "" };
  let running = false;
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
    if (running || state === "starting" || state === "exited") return;
    running = true;
    // An agent whose tmux fails goes on, and says its state in its status file.
    const done = (): void => {
      running = false;
    };
    const begin = (): Promise<void> => show().then(done, done);
    if (isFirst) after(FIRST_SHOWN_MS, begin);
    else begin();
    isFirst = false;
  };
}
