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
 * Interrupts the program of a pane with Escape. Presses nothing if the input contains a person's draft, which the key could delete. If
 * the program has put our text into its input, presses Ctrl-C, which ends the turn and removes that text; Escape would only remove it.
 * @returns why nothing was pressed, as the end of a sentence; undefined if a key was pressed
 * @throws TeamError TMUX_ERROR
 */
export async function interruptScreen({
  place,
  env,
  ownText,
}: InterruptOptions): Promise<string | undefined> {
  if (place?.server === undefined) return "teams does not know its tmux pane";
  const server = serverAt(place.server, env);
  const screen = await readPaneScreen(server, place);
  if (screen === undefined) return PRESS_REFUSALS.gone;
  const isOwn = endsAtCursor(screen, ownText);
  if (!isOwn && draftOf(screen) !== undefined) return "its input contains a person's draft";
  const pressed = await pressKeys(server, place, [isOwn ? "C-c" : "Escape"]);
  return pressed === "pressed" ? undefined : PRESS_REFUSALS[pressed];
}
