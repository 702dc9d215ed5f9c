import type { PrivateTmux } from "./private-tmux.ts";

const WINDOW =
  "#{session_name} #{window_id} #{window_index} #{window_name} #{window_layout} #{window_flags} #{pane_id}";
const PANE = "#{pane_id} #{pane_pid} #{pane_title} #{pane_active} #{pane_in_mode} #{pane_dead}";
const CLIENT = "#{client_name} #{session_name} #{window_id} #{pane_id} #{client_width}x#{client_height}";

/**
 * Records everything of the user on a server, to compare it before and after: options and hooks of every
 * level, key bindings, buffers, environments, sessions, clients, and the windows and panes of one session.
 */
export function userState(t: PrivateTmux, session = "mine"): Readonly<Record<string, string>> {
  const target = `=${session}:`;
  const list = (what: string, format: string) => t.tmux(what, "-s", "-t", target, "-F", format);
  const windows = t.tmux("list-windows", "-t", target, "-F", "#{window_id}").split("\n");
  const panes = list("list-panes", "#{pane_id}").split("\n");
  const of = (level: string, ids: readonly string[]) =>
    ids.map((id) => `${id} ${t.tmux("show-options", level, "-t", id)}`).join("\n");
  return {
    options: ["-g", "-s", "-gw"].map((level) => t.tmux("show-options", level)).join("\n"),
    hooks: ["-g", "-gw"].map((level) => t.tmux("show-hooks", level)).join("\n"),
    ofTheSession: [t.tmux("show-options", "-t", target), t.tmux("show-hooks", "-t", target)].join("\n"),
    ofTheWindows: [of("-w", windows), ...windows.map((id) => t.tmux("show-hooks", "-w", "-t", id))].join(
      "\n",
    ),
    ofThePanes: of("-p", panes),
    keys: t.tmux("list-keys"),
    buffers: t.tmux("list-buffers"),
    environment: [t.tmux("show-environment", "-g"), t.tmux("show-environment", "-t", target)].join("\n"),
    sessions: t.tmux("list-sessions", "-F", "#{session_id} #{session_name} #{session_windows}"),
    clients: t.tmux("list-clients", "-F", CLIENT),
    windows: t.tmux("list-windows", "-t", target, "-F", WINDOW),
    panes: list("list-panes", PANE),
  };
}
