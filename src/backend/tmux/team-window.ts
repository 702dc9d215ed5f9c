import { allOf, equals, escapeFormat, ifElse, type TmuxCommand } from "../../tmux/command.ts";
import type { WindowId } from "../../tmux/ids.ts";
import type { SpawnRequest } from "../backend.ts";
import { removeLayoutHook } from "./layout-commands.ts";
import { ownerTag, TAG } from "./pane-tags.ts";

/**
 * Format of the line above each pane of a team window. It contains names only through user options, so a name is shown and never
 * expanded.
 */
const BORDER_FORMAT =
  ` #[fg=#{${TAG.color}}]#{?pane_active,#[bold],}#{s/@.*//:${TAG.agentId}}#[default]` +
  `#{?${TAG.state}, #{${TAG.state}},}#{?${TAG.task}, #{${TAG.task}},} `;

/** Returns the commands that make a window a team window, with window options only. {@link releaseWindow} undoes them. */
export function windowOptions(
  target: string,
  request: Pick<SpawnRequest, "team" | "rootTag">,
): TmuxCommand[] {
  const set = (name: string, value: string): TmuxCommand => ["set-option", "-w", "-t", target, name, value];
  return [
    set("automatic-rename", "off"),
    set("allow-rename", "off"),
    set("remain-on-exit", "off"),
    set("pane-border-status", "top"),
    set("pane-border-format", BORDER_FORMAT),
    ["set-option", "-w", "-F", "-t", target, TAG.window, `#{window_id}/${ownerTag(request)}`],
    set(TAG.team, request.team),
    set(TAG.root, request.rootTag),
  ];
}

/** The options that {@link releaseWindow} always unsets. It resets the window's name only if teams has set that name. */
const OUR_WINDOW_OPTIONS = [
  "allow-rename",
  "remain-on-exit",
  "pane-border-status",
  "pane-border-format",
  TAG.window,
  TAG.team,
  TAG.root,
  TAG.apart,
  TAG.layout,
  TAG.fitted,
  TAG.name,
  TAG.zoomed,
  TAG.zoom,
  TAG.zoomPanes,
];

/** Returns a free name for another shared window: the title, then title-2, … Names are for people; teams finds windows by tags. */
export function freeWindowName(title: string, taken: ReadonlySet<string>): string {
  for (let n = 1; ; n += 1) {
    const name = n === 1 ? title : `${title}-${n}`;
    // Some versions of tmux keep the doubled `#` of a literal in the name, others do not.
    if (!taken.has(name) && !taken.has(escapeFormat(name))) return name;
  }
}

/**
 * Returns the commands that name a window and record the name as tmux reports it: {@link releaseWindow} resets only this name.
 * @param target a pane or window
 */
export function nameWindow(target: string, name: string): TmuxCommand[] {
  return [
    // A name may begin with a dash; tmux would refuse the whole batch.
    ["rename-window", "-t", target, "--", escapeFormat(name)],
    ["set-option", "-w", "-F", "-t", target, TAG.name, "#{window_name}"],
  ];
}

/** Condition for a teammate's pane: it is tagged or, just after its creation, has the start command of a launch script. */
const IS_OURS = `#{||:#{${TAG.agent}},#{m:*outer ????????-????-????-????-????????????*,#{pane_start_command}}}`;

/**
 * Returns the command that turns a team window without teammates into a normal window: it removes the options, the hooks and, unless the
 * user has renamed the window, the name. A window that is gone or is not a team window is not touched.
 * @param serverPid the server on which the window's id is valid
 */
export function releaseWindow(window: WindowId, serverPid: number): TmuxCommand {
  const isReleasable = allOf(
    equals("window_id", window),
    equals("pid", String(serverPid)),
    `#{m:${window}/*,#{${TAG.window}}}`,
    `#{==:#{P:#{?${IS_OURS},x,}},}`,
  );
  const isNamedByUs = `#{==:#{window_name},#{${TAG.name}}}`;
  const automatic: TmuxCommand[] = [
    // Rename it now: tmux updates an automatic name only after new output.
    ["rename-window", "-t", window, "#{E:automatic-rename-format}"],
    ["set-option", "-w", "-u", "-t", window, "automatic-rename"],
  ];
  return ifElse(
    window,
    isReleasable,
    [
      ifElse(window, isNamedByUs, automatic, []),
      removeLayoutHook(window),
      ...OUR_WINDOW_OPTIONS.map((name): TmuxCommand => ["set-option", "-w", "-u", "-t", window, name]),
    ],
    [],
  );
}
