import { identityCondition } from "../../backend/tmux/pane-tags.ts";
import { TeamError } from "../../errors.ts";
import type { PlaceRecord } from "../../schema/status.ts";
import { inQueue } from "../../store/lock.ts";
import { withoutEnd } from "../../text/line-ends.ts";
import { paste, pressEnter, withoutControls } from "../../tmux/keys.ts";
import { readScreen, type Screen } from "../../tmux/screen.ts";
import type { TmuxServer } from "../../tmux/server.ts";
import {
  awaitChange,
  awaitSettled,
  type InputPane,
  type InputRefusal,
  inputRefusal,
  openInputPane,
} from "./input-pane.ts";

export type TypingOutcome =
  /** Submitted: the screen has changed since. */
  | { readonly kind: "sent" }
  /** Submitted, but the screen has not changed yet. */
  | { readonly kind: "unconfirmed" }
  /** Nothing was typed. */
  | { readonly kind: "held"; readonly why: InputRefusal }
  /**
   * The text was typed, but Enter was not pressed: typing it again would duplicate it.
   * @param typed the screen with the text, for {@link submitTyped}; undefined if the program never showed the text
   */
  | { readonly kind: "unsent"; readonly why: InputRefusal | "unseen"; readonly typed?: Screen };

interface TypingOptions {
  /** The screen at the program's idle signal ({@link readPaneScreen}): nothing is typed into any other screen. */
  readonly idleScreen: Screen;
  /** Path of the queue lock that allows one sender at a time for this pane. */
  readonly lock: string;
  /** Line ends are part of one bracketed paste, or become spaces if the program does not support bracketed paste. */
  readonly lineEnds?: "pasted" | "joined";
  /** An additional tmux condition: nothing is typed unless it is true. */
  readonly also?: string;
  /** Whether Enter may be pressed on a screen that has not changed since the text was typed; always true by default. */
  readonly mayEnter?: (screen: Screen) => boolean;
  readonly timeouts?: TypingTimeouts;
}

interface TypingTimeouts {
  /** Milliseconds until the program shows the pasted text. */
  readonly echoMs: number;
  /** Milliseconds from the first change until the screen is stable. */
  readonly settleMs: number;
  /** Milliseconds until the screen changes after Enter. */
  readonly confirmMs: number;
}

/** Together less than the 15 s that the next sender waits for the lock. A program that reacts later hangs or ignores keys. */
const TIMEOUTS: TypingTimeouts = { echoMs: 5_000, settleMs: 2_000, confirmMs: 3_000 };

/** Reads the screen of a pane; undefined if the pane is no longer the recorded one. */
export async function readPaneScreen(server: TmuxServer, place: PlaceRecord): Promise<Screen | undefined> {
  const identity = identityCondition(place);
  return identity && readScreen(server, identity.pane, identity.condition);
}

/**
 * Types a message into a program that reads keys: one paste, and Enter once the text is visible. Nothing is typed if the pane is
 * not the recorded one, is in a tmux mode, or shows another screen than the idle one, such as a person's draft or a question.
 * @throws TeamError TMUX_ERROR; LOCK_TIMEOUT if another sender takes too long (nothing was typed)
 */
export async function typeMessage(
  server: TmuxServer,
  place: PlaceRecord,
  text: string,
  options: TypingOptions,
): Promise<TypingOutcome> {
  const clean = typeableText(text, options.lineEnds);
  return inQueue(options.lock, () => typeAndSubmit(server, place, clean, options));
}

/**
 * Presses Enter for a text that was typed earlier, if the pane still shows the screen with that text.
 * @throws TeamError as {@link typeMessage}
 */
export function submitTyped(
  server: TmuxServer,
  place: PlaceRecord,
  typed: Screen,
  options: Omit<TypingOptions, "idleScreen" | "lineEnds">,
): Promise<TypingOutcome> {
  return inQueue(options.lock, async () => {
    const pane = openInputPane(server, place, options.also);
    return pane === undefined ? { kind: "unsent", why: "gone" } : pressEnterIfUnchanged(pane, typed, options);
  });
}

/** @throws TeamError INVALID_INPUT if the text has only control characters and white space */
function typeableText(text: string, lineEnds: TypingOptions["lineEnds"] = "pasted"): string {
  const clean = withoutEnd(withoutControls(text), "\n");
  if (clean.trim() === "") {
    throw new TeamError("INVALID_INPUT", "The text has no characters that can be typed.", {
      hint: "Add visible text: control characters are never typed.",
    });
  }
  return lineEnds === "joined" ? clean.replace(/[\n\t]+/g, " ") : clean;
}

async function typeAndSubmit(
  server: TmuxServer,
  place: PlaceRecord,
  text: string,
  options: TypingOptions,
): Promise<TypingOutcome> {
  const pane = openInputPane(server, place, options.also);
  const before = await pane?.read();
  const why = before === undefined ? "gone" : inputRefusal(before, options.idleScreen);
  if (pane === undefined || before === undefined || why !== undefined) {
    return { kind: "held", why: why ?? "gone" };
  }
  if (before.brackets === "off" && text.includes("\n")) return { kind: "held", why: "unbracketed" };
  const typed = await pane.type(before, paste(pane.id, text, pane.buffer));
  if (typed !== "typed") return { kind: "held", why: typed };
  const { echoMs, settleMs } = options.timeouts ?? TIMEOUTS;
  const shown = await awaitChange(pane, before, echoMs);
  if (shown.kind !== "changed") return { kind: "unsent", why: shown.kind === "gone" ? "gone" : "unseen" };
  const settled = await awaitSettled(pane, shown.screen, settleMs);
  return settled === undefined
    ? { kind: "unsent", why: "gone" }
    : pressEnterIfUnchanged(pane, settled, options);
}

async function pressEnterIfUnchanged(
  pane: InputPane,
  typed: Screen,
  { timeouts = TIMEOUTS, mayEnter = () => true }: Pick<TypingOptions, "timeouts" | "mayEnter">,
): Promise<TypingOutcome> {
  const now = await pane.read();
  const why =
    now === undefined ? "gone" : (inputRefusal(now, typed) ?? (mayEnter(now) ? undefined : "screen-changed"));
  if (why !== undefined) return { kind: "unsent", why, typed };
  const entered = await pane.type(typed, pressEnter(pane.id, pane.buffer));
  if (entered !== "typed") return { kind: "unsent", why: entered, typed };
  const { kind } = await awaitChange(pane, typed, timeouts.confirmMs);
  // A program that is gone now may have ended after it read the text; its end is reported elsewhere.
  return { kind: kind === "same" ? "unconfirmed" : "sent" };
}
