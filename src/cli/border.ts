import type { Env } from "../os/env.ts";

/**
 * Keeps the border of this agent's pane in step with its state: one forked call a change, several changes in a row as
 * one, none in idle. tmux's driver is loaded at the first change, behind readiness.
 */
export function borderOf(env: Env): (state: string, taskIds: readonly string[]) => void {
  const { TMUX_PANE: pane, TEAMS_INSTANCE: instance } = env;
  if (!env.TMUX || pane === undefined || instance === undefined) return () => undefined;
  let wanted = { state: "", task: "" };
  let running = false;
  const show = async (): Promise<void> => {
    const [{ showPaneState }, { chooseServer, tmuxServer }] = await Promise.all([
      import("../backend/pane-state.ts"),
      import("../tmux/server.ts"),
    ]);
    const server = tmuxServer({ socket: chooseServer(env), env });
    for (let shown = { state: "", task: "" }; shown !== wanted; ) {
      shown = wanted;
      await showPaneState(server, pane, instance, shown);
    }
  };
  return (state, taskIds) => {
    wanted = { state, task: taskIds.map((id) => `#${id}`).join(" ") };
    if (running || state === "starting" || state === "exited") return;
    running = true;
    // The border is decoration: an agent whose tmux fails goes on, and says its state in its status file.
    show().then(
      () => (running = false),
      () => (running = false),
    );
  };
}
