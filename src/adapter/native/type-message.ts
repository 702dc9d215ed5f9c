import { identityCondition } from "../../backend/tmux/pane-tags.ts";
import { TeamError } from "../../errors.ts";
import type { PlaceRecord } from "../../schema/status.ts";
import { inQueue } from "../../store/lock.ts";
import { paste, pressEnter, withoutControls } from "../../tmux/keys.ts";
import { readScreen, type Screen } from "../../tmux/screen.ts";
import type { TmuxServer } from "../../tmux/server.ts";
import { changeOf, type KeptBack, keptBack, restOf, type TalkedTo, talkedTo } from "./input-pane.ts";

export type Talk =
  /** Entered, and the program shows something else since. */
  | { readonly kind: "sent" }
  /** Entered, and the program shows nothing of it yet. */
  | { readonly kind: "unconfirmed" }
  /** Nothing was typed. */
  | { readonly kind: "held"; readonly why: KeptBack }
  /**
   * The text was given to the program and Enter was not pressed: to say it again would say it twice.
   * @param typed the screen with the text in it, for {@link enter}; none when the program never showed it
   */
  | { readonly kind: "unsent"; readonly why: KeptBack | "unseen"; readonly typed?: Screen };

interface TalkOptions {
  /** The screen at the program's idle signal ({@link screenOf}): only into this very one anything is typed. */
  readonly idleScreen: Screen;
  /** Path whose queue lock keeps two talks to one pane apart. */
  readonly lock: string;
  /** What becomes of line ends: part of one bracketed paste, or blanks for a program that knows no brackets. */
  readonly lineEnds?: "pasted" | "joined";
  readonly bounds?: TalkBounds;
}

interface TalkBounds {
  /** Milliseconds within which a program shows what was pasted. */
  readonly echoMs: number;
  /** Milliseconds after the first change within which its screen comes to rest. */
  readonly settleMs: number;
  /** Milliseconds within which it shows that it was entered. */
  readonly confirmMs: number;
}

/** All three together stay below the 15 s that the next talk waits for its turn. A program that shows nothing for so long hangs, or ignores keys. */
const BOUNDS: TalkBounds = { echoMs: 5_000, settleMs: 2_000, confirmMs: 3_000 };

/** What a pane shows, if it still is the one of the record. */
export async function screenOf(server: TmuxServer, place: PlaceRecord): Promise<Screen | undefined> {
  const identity = identityCondition(place);
  return identity && readScreen(server, identity.pane, identity.condition);
}

/**
 * Says something to a program that reads keys: one paste, and Enter once it is to be seen. Nothing is typed into a pane
 * that is not the one of the record, in a mode, or shows another screen than the idle one (a person's draft, a question).
 * @throws TeamError TMUX_ERROR; LOCK_TIMEOUT when another talk to it takes too long, nothing was typed then
 */
export async function talk(
  server: TmuxServer,
  place: PlaceRecord,
  text: string,
  options: TalkOptions,
): Promise<Talk> {
  const words = wordsOf(text, options.lineEnds);
  return inQueue(options.lock, () => begin(server, place, words, options));
}

/**
 * Enters the text that an earlier talk has left unsent, as soon as its screen is back.
 * @throws TeamError as {@link talk}
 */
export function enter(
  server: TmuxServer,
  place: PlaceRecord,
  typed: Screen,
  options: Omit<TalkOptions, "idleScreen" | "lineEnds">,
): Promise<Talk> {
  return inQueue(options.lock, async () => {
    const pane = talkedTo(server, place);
    return pane === undefined ? { kind: "unsent", why: "gone" } : submit(pane, typed, options);
  });
}

/** @throws TeamError INVALID_INPUT when nothing is left of it */
function wordsOf(text: string, lineEnds: TalkOptions["lineEnds"] = "pasted"): string {
  const clean = withoutControls(text).replace(/\n+$/, "");
  if (clean.trim() === "") {
    throw new TeamError("INVALID_INPUT", "There is nothing in the text that could be typed.", {
      hint: "Control characters are never typed.",
    });
  }
  return lineEnds === "joined" ? clean.replace(/[\n\t]+/g, " ") : clean;
}

async function begin(
  server: TmuxServer,
  place: PlaceRecord,
  words: string,
  options: TalkOptions,
): Promise<Talk> {
  const pane = talkedTo(server, place);
  const before = await pane?.look();
  const why = before === undefined ? "gone" : keptBack(before, options.idleScreen);
  if (pane === undefined || before === undefined || why !== undefined) {
    return { kind: "held", why: why ?? "gone" };
  }
  if (before.brackets === "off" && words.includes("\n")) return { kind: "held", why: "unbracketed" };
  const typed = await pane.type(before, paste(pane.id, words, pane.buffer));
  if (typed !== "typed") return { kind: "held", why: typed };
  const { echoMs, settleMs } = options.bounds ?? BOUNDS;
  const shown = await changeOf(pane, before, echoMs);
  if (shown.kind !== "changed") return { kind: "unsent", why: shown.kind === "gone" ? "gone" : "unseen" };
  const rested = await restOf(pane, shown.screen, settleMs);
  return rested === undefined ? { kind: "unsent", why: "gone" } : submit(pane, rested, options);
}

async function submit(
  pane: TalkedTo,
  typed: Screen,
  { bounds = BOUNDS }: Pick<TalkOptions, "bounds">,
): Promise<Talk> {
  const now = await pane.look();
  const why = now === undefined ? "gone" : keptBack(now, typed);
  if (why !== undefined) return { kind: "unsent", why, typed };
  const entered = await pane.type(typed, pressEnter(pane.id, pane.buffer));
  if (entered !== "typed") return { kind: "unsent", why: entered, typed };
  const { kind } = await changeOf(pane, typed, bounds.confirmMs);
  // Who is gone now has read it, or ended by itself: either way its end is told elsewhere.
  return { kind: kind === "same" ? "unconfirmed" : "sent" };
}
