import { serverAt } from "../../backend/tmux/server-for.ts";
import type { Env } from "../../os/env.ts";
import type { PlaceRecord } from "../../schema/status.ts";
import { draftOf, endsAtCursor } from "./draft.ts";
import { PRESS_REFUSALS, pressKeys } from "./press-keys.ts";
import { readPaneScreen } from "./type-message.ts";

interface InterruptOptions {
  /** The pane of the program; undefined outside tmux. */
  readonly place: PlaceRecord | undefined;
  readonly env: Env;
  /** A text that the program may have put into its own input; it is not a draft of a person. */
  readonly ownText: string;
}

/**
 * Interrupts the program of a pane by Escape. Over a person's draft nothing is pressed, because the key could delete it. If the
 * program has put our own text into its input, Ctrl-C ends the turn and removes that text; Escape would only do the second.
 * @returns why nothing was pressed, as the end of a sentence; undefined if a key was pressed
 * @throws TeamError TMUX_ERROR
 */
export async function interruptScreen({
  place,
  env,
  ownText,
}: InterruptOptions): Promise<string | undefined> {
  if (place?.server === undefined) return "it is in no tmux pane that teams knows";
  const server = serverAt(place.server, env);
  const screen = await readPaneScreen(server, place);
  if (screen === undefined) return PRESS_REFUSALS.gone;
  const isOwn = endsAtCursor(screen, ownText);
  if (!isOwn && draftOf(screen) !== undefined) return "a person has begun to type there";
  const pressed = await pressKeys(server, place, [isOwn ? "C-c" : "Escape"]);
  return pressed === "pressed" ? undefined : PRESS_REFUSALS[pressed];
}
