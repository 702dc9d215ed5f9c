import type { Env } from "../os/env.ts";
import { seemsToRun, tmuxCaller } from "../tmux/caller.ts";

/** A caller whose `$TMUX` names a server that has ended: it is outside tmux. */
interface OutsideTmux {
  /** The socket of that server. */
  readonly endedTmux: string;
  /** The environment without it. */
  readonly env: Env;
}

/** Returns undefined unless the server of `$TMUX` has ended. Asks the server only if its process does not seem to be running. */
export async function outsideEndedTmux(env: Env): Promise<OutsideTmux | undefined> {
  const caller = tmuxCaller(env);
  if (caller === undefined || seemsToRun(caller)) return undefined;
  const ended = await (await import("./ended-tmux.ts")).endedTmux(env);
  if (ended === undefined) return undefined;
  const { TMUX: _server, TMUX_PANE: _pane, ...rest } = env;
  return { endedTmux: ended, env: rest };
}

/** Returns the team of the caller's tmux pane; undefined outside tmux, and for an agent, whose environment names its team. */
export async function teamOfPane(env: Env): Promise<string | undefined> {
  if (!env.TMUX || !env.TMUX_PANE || env.TEAMS_AGENT) return undefined;
  return (await import("./marked-team.ts")).markedTeam(env);
}
