import { ifElse, type TmuxCommand } from "../../tmux/command.ts";
import { all, equals, literal } from "../../tmux/format.ts";
import type { WindowId } from "../../tmux/ids.ts";
import type { SpawnRequest } from "../backend.ts";
import { removeLayoutHook } from "./layout-commands.ts";
import { ownerTag, TAG } from "./pane-tags.ts";

/**
 * The line above each pane of our windows. Only user options stand in it: what a foreign name holds is shown and
 * never expanded.
 */
const BORDER_FORMAT =
  ` #[fg=#{${TAG.color}}]#{?pane_active,#[bold],}#{s/@.*//:${TAG.agentId}}#[default]` +
  `#{?${TAG.state}, #{${TAG.state}},}#{?${TAG.task}, #{${TAG.task}},} `;

/** What makes a window ours; all of them window options, nothing global. {@link releaseWindow} takes them back. */
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

/** The options that {@link releaseWindow} takes off whatever they say by then; the window's name goes by what it is. */
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
];

/** The name of one more window that a team shares: its title, then title-2, … It is for people; nothing is found by it. */
export function freeWindowName(title: string, taken: ReadonlySet<string>): string {
  for (let n = 1; ; n += 1) {
    const name = n === 1 ? title : `${title}-${n}`;
    // tmux keeps the doubled signs of a literal, or not, as its version has it.
    if (!taken.has(name) && !taken.has(literal(name))) return name;
  }
}

/**
 * Gives a window its name, and writes down how tmux has it: only that name is ours to take back.
 * @param target a pane or window
 */
export function nameWindow(target: string, name: string): TmuxCommand[] {
  return [
    ["rename-window", "-t", target, literal(name)],
    ["set-option", "-w", "-F", "-t", target, TAG.name, "#{window_name}"],
  ];
}

/** A pane of a teammate's, also in the gap before it is tagged: it has a start's own words then. */
const IS_OURS = `#{||:#{${TAG.agent}},#{m:*outer ????????-????-????-????-????????????*,#{pane_start_command}}}`;

/**
 * The command that gives a window that we made to the user, once none of ours stands in it: our options and hooks go, and
 * our name unless the user gave it another. Of a window that is gone, or never was ours, nothing is touched.
 * @param serverPid of the server that the window's id is of
 */
export function releaseWindow(window: WindowId, serverPid: number): TmuxCommand {
  const isLeft = all(
    equals("window_id", window),
    equals("pid", String(serverPid)),
    `#{m:${window}/*,#{${TAG.window}}}`,
    `#{==:#{P:#{?${IS_OURS},x,}},}`,
  );
  const isNamedByUs = `#{==:#{window_name},#{${TAG.name}}}`;
  const automatic: TmuxCommand[] = [
    // At once: tmux itself looks at the name again only when the pane shows something.
    ["rename-window", "-t", window, "#{E:automatic-rename-format}"],
    ["set-option", "-w", "-u", "-t", window, "automatic-rename"],
  ];
  return ifElse(
    window,
    isLeft,
    [
      ifElse(window, isNamedByUs, automatic, []),
      removeLayoutHook(window),
      ...OUR_WINDOW_OPTIONS.map((name): TmuxCommand => ["set-option", "-w", "-u", "-t", window, name]),
    ],
    [],
  );
}
