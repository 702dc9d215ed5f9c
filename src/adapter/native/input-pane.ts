import { identityCondition } from "../../backend/tmux/pane-tags.ts";
import { TeamError } from "../../errors.ts";
import { pause, steadyNow } from "../../os/clock.ts";
import type { PlaceRecord } from "../../schema/status.ts";
import { allOf, equals, ifElse, type TmuxCommand } from "../../tmux/command.ts";
import type { PaneId } from "../../tmux/ids.ts";
import { readScreen, type Screen } from "../../tmux/screen.ts";
import { isNoServer, type TmuxServer } from "../../tmux/server.ts";

/** Why nothing was typed. `unbracketed`: the program would submit each of several lines separately. */
export type InputRefusal = "in-mode" | "screen-changed" | "input-off" | "unbracketed" | "gone";

/** Milliseconds between two reads after typing: short at first, since most programs react immediately. */
const POLL_PAUSE = { first: 20, growth: 1.6, max: 500 };
/** Milliseconds without a change until a screen counts as stable: several frames of a program that draws 60 times a second. */
const STABLE_MS = 80;

/** Whether two screens have the same text and the same cursor position. */
function isSameScreen(one: Screen, other: Screen): boolean {
  return (
    one.alternate === other.alternate &&
    one.cursor.x === other.cursor.x &&
    one.cursor.y === other.cursor.y &&
    one.rows.length === other.rows.length &&
    one.rows.every((row, i) => row === other.rows[i])
  );
}

/** Returns why nothing may be typed now; undefined if typing is allowed. */
export function inputRefusal(now: Screen, expected: Screen): InputRefusal | undefined {
  if (now.dead) return "gone";
  if (now.mode !== "") return "in-mode";
  if (now.inputOff) return "input-off";
  return isSameScreen(now, expected) ? undefined : "screen-changed";
}

/** A pane to type into. Nothing is typed if it is no longer the recorded pane, or if another condition is no longer true. */
export interface InputPane {
  readonly id: PaneId;
  /** Name of the tmux paste buffer: never one of the user's, and always the same, so the next paste replaces a leftover. */
  readonly buffer: string;
  read(): Promise<Screen | undefined>;
  /** Types only if the pane has not changed since this screen was read. */
  type(since: Screen, keys: readonly TmuxCommand[]): Promise<"typed" | InputRefusal>;
}

const TYPED = "TYPED";

/** Returns the pane of a record; undefined if the record names no pane. @param also an additional tmux condition for typing */
export function openInputPane(server: TmuxServer, place: PlaceRecord, also?: string): InputPane | undefined {
  const identity = identityCondition(place);
  if (identity === undefined) return undefined;
  const { pane, condition } = identity;
  const conditions = also === undefined ? [condition] : [condition, also];
  const print = (text: string): TmuxCommand => ["display-message", "-p", "-t", pane, text];
  return {
    id: pane,
    // A foreign pane has no instance.
    buffer: `teams-${place.instance || pane}`,
    read: () => readScreen(server, pane, condition),
    async type(since, keys) {
      const open = allOf(...conditions, ...unchangedSince(since));
      try {
        const { lines, errors } = await server.batch([
          // Not a single format: display-message would expand the % of a pane's id as strftime does.
          ifElse(
            pane,
            open,
            [...keys, print(TYPED)],
            [ifElse(pane, condition, [print(REFUSAL)], [print("gone")])],
          ),
        ]);
        // A hook of the user may print other lines.
        if (lines.includes(TYPED)) return "typed";
        const why = REASONS.find((reason) => lines.includes(reason));
        if (why !== undefined) return why;
        throw tmuxRefusal(pane, errors);
      } catch (error) {
        if (isNoServer(error)) return "gone";
        throw error;
      }
    },
  };
}

/** Returns tmux conditions that the typing command itself checks: a character typed by a person moves the cursor. */
function unchangedSince({ cursor, history, alternate, width, height }: Screen): string[] {
  const facts = {
    pane_dead: 0,
    pane_in_mode: 0,
    pane_input_off: 0,
    alternate_on: alternate ? 1 : 0,
    cursor_x: cursor.x,
    cursor_y: cursor.y,
    history_size: history,
    pane_width: width,
    pane_height: height,
  };
  return Object.entries(facts).map(([name, value]) => equals(name, String(value)));
}

const REASONS: readonly InputRefusal[] = ["gone", "in-mode", "input-off", "screen-changed"];

/** A format of tmux whose value is the refusal, for the recorded pane. */
const REFUSAL =
  "#{?#{pane_dead},gone,#{?#{pane_in_mode},in-mode,#{?#{pane_input_off},input-off,screen-changed}}}";

function tmuxRefusal(pane: PaneId, errors: readonly string[]): TeamError {
  const why = errors.join("; ") || "it gave no reason";
  return new TeamError("TMUX_ERROR", `tmux did not type into pane ${pane}: ${why}.`, {
    hint: "Enter was not pressed. Check what the pane contains before you send the text again.",
    details: { kind: "refused", errors },
  });
}

type Change =
  | { readonly kind: "changed"; readonly screen: Screen }
  | { readonly kind: "same" }
  | { readonly kind: "gone" };

/** Reads the pane until its screen changes or `withinMs` milliseconds have passed, with growing pauses. */
export async function awaitChange(pane: InputPane, before: Screen, withinMs: number): Promise<Change> {
  const deadline = steadyNow() + withinMs;
  for (let wait = POLL_PAUSE.first; ; wait = Math.min(wait * POLL_PAUSE.growth, POLL_PAUSE.max)) {
    await pause(wait);
    const screen = await pane.read();
    if (screen === undefined || screen.dead) return { kind: "gone" };
    if (!isSameScreen(screen, before)) return { kind: "changed", screen };
    if (steadyNow() > deadline) return { kind: "same" };
  }
}

/** Returns the screen once two reads in a row are equal, or the last one at the deadline; undefined if the pane is gone. */
export async function awaitSettled(
  pane: InputPane,
  changed: Screen,
  withinMs: number,
): Promise<Screen | undefined> {
  const deadline = steadyNow() + withinMs;
  for (let last = changed; ; ) {
    await pause(STABLE_MS);
    const screen = await pane.read();
    if (screen === undefined || screen.dead) return undefined;
    if (isSameScreen(screen, last) || steadyNow() > deadline) return screen;
    last = screen;
  }
}
