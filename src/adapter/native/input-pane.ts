import { identityCondition } from "../../backend/tmux/pane-tags.ts";
import { TeamError } from "../../errors.ts";
import { pause, steadyNow } from "../../os/clock.ts";
import type { PlaceRecord } from "../../schema/status.ts";
import { allOf, equals, ifElse, type TmuxCommand } from "../../tmux/command.ts";
import type { PaneId } from "../../tmux/ids.ts";
import { readScreen, type Screen } from "../../tmux/screen.ts";
import { isNoServer, type TmuxServer } from "../../tmux/server.ts";

/** Why keys were kept back. `unbracketed`: several lines, for a program that would take each for a submission. */
export type KeptBack = "in-mode" | "screen-changed" | "input-off" | "unbracketed" | "gone";

/** Milliseconds between two looks while keys are under way: short at first, since most programs answer at once. */
const LOOKS = { first: 20, growth: 1.6, most: 500 };
/** Milliseconds for which a screen is the same when it has come to rest: some frames of a program that draws at 60 a second. */
const DRAIN_MS = 80;

/** Whether a program waits as it did: the same words, its cursor at the same place. */
function isSameScreen(one: Screen, other: Screen): boolean {
  return (
    one.alternate === other.alternate &&
    one.cursor.x === other.cursor.x &&
    one.cursor.y === other.cursor.y &&
    one.rows.length === other.rows.length &&
    one.rows.every((row, i) => row === other.rows[i])
  );
}

/** Why nothing may be typed now; undefined when it may. */
export function keptBack(now: Screen, expected: Screen): KeptBack | undefined {
  if (now.dead) return "gone";
  if (now.mode !== "") return "in-mode";
  if (now.inputOff) return "input-off";
  return isSameScreen(now, expected) ? undefined : "screen-changed";
}

/** A pane that is talked to, while it is the one of the record. */
export interface TalkedTo {
  readonly id: PaneId;
  /** Never one of the user's; the same for each talk, so that the next one replaces what could be left of it. */
  readonly buffer: string;
  look(): Promise<Screen | undefined>;
  /** Types only while the pane is as it was at that look. */
  type(since: Screen, keys: readonly TmuxCommand[]): Promise<"typed" | KeptBack>;
}

const TYPED = "TYPED";

export function talkedTo(server: TmuxServer, place: PlaceRecord): TalkedTo | undefined {
  const identity = identityCondition(place);
  if (identity === undefined) return undefined;
  const { pane, condition } = identity;
  const say = (text: string): TmuxCommand => ["display-message", "-p", "-t", pane, text];
  return {
    id: pane,
    buffer: `teams-${place.instance}`,
    look: () => readScreen(server, pane, condition),
    async type(since, keys) {
      const open = allOf(condition, ...sameMoment(since));
      try {
        const { lines, errors } = await server.batch([
          ifElse(pane, open, [...keys, say(TYPED)], [say(whyNot(condition))]),
        ]);
        const [answer] = lines;
        if (answer === TYPED) return "typed";
        const why = REASONS.find((reason) => reason === answer);
        if (why !== undefined) return why;
        throw refused(pane, errors);
      } catch (error) {
        if (isNoServer(error)) return "gone";
        throw error;
      }
    },
  };
}

/**
 * What tmux itself can hold against a look, in the very command that types: whoever types a character moves the cursor.
 */
function sameMoment({ cursor, history, alternate, width, height }: Screen): string[] {
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

const REASONS: readonly KeptBack[] = ["gone", "in-mode", "input-off", "screen-changed"];

/** A format whose value is the reason; a pane that is not ours is not asked further. */
function whyNot(identity: string): string {
  const inner = "#{?#{pane_in_mode},in-mode,#{?#{pane_input_off},input-off,screen-changed}}";
  return `#{?${identity},#{?#{pane_dead},gone,${inner}},gone}`;
}

function refused(pane: PaneId, errors: readonly string[]): TeamError {
  const why = errors.join("; ") || "it gave no reason";
  return new TeamError("TMUX_ERROR", `tmux did not type into the pane ${pane}: ${why}.`, {
    hint: "Enter was not pressed. Look at the pane before the text is said again.",
    details: { kind: "refused", errors },
  });
}

type Change =
  | { readonly kind: "changed"; readonly screen: Screen }
  | { readonly kind: "same" }
  | { readonly kind: "gone" };

/** Looks until the pane shows something else, with growing pauses. */
export async function changeOf(pane: TalkedTo, before: Screen, withinMs: number): Promise<Change> {
  const deadline = steadyNow() + withinMs;
  for (let wait = LOOKS.first; ; wait = Math.min(wait * LOOKS.growth, LOOKS.most)) {
    await pause(wait);
    const screen = await pane.look();
    if (screen === undefined || screen.dead) return { kind: "gone" };
    if (!isSameScreen(screen, before)) return { kind: "changed", screen };
    if (steadyNow() > deadline) return { kind: "same" };
  }
}

/** The screen when two looks in a row were the same; of a program that never rests the last one. */
export async function restOf(pane: TalkedTo, changed: Screen, withinMs: number): Promise<Screen | undefined> {
  const deadline = steadyNow() + withinMs;
  for (let last = changed; ; ) {
    await pause(DRAIN_MS);
    const screen = await pane.look();
    if (screen === undefined || screen.dead) return undefined;
    if (isSameScreen(screen, last) || steadyNow() > deadline) return screen;
    last = screen;
  }
}
