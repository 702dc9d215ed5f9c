import { TeamError } from "../errors.ts";
import { optionWords } from "../text/shell-quote.ts";
import type { OperationContext } from "./context.ts";
import { placeOfMember, unprovenPaneError } from "./processes/place-of-member.ts";
import { resumeHint } from "./resume-hint.ts";

/** How many lines of a screen are shown by default: the height of a usual screen. */
export const SCREEN_LINES = 40;

/**
 * Returns the last lines of a member's screen.
 * @throws TeamError RECIPIENT_INACTIVE if the member has no screen now, or if no pane is proven to be its own
 */
export async function captureScreen(
  ctx: OperationContext,
  name: string,
  lines: number,
): Promise<readonly string[]> {
  const place = await placeOfMember(ctx, name);
  const screen = await (place && ctx.backends.of(place.backend)?.capture(place, lines));
  if (screen === undefined) throw await noScreenError(ctx, name);
  return screen;
}

/** Makes the error for a member without a screen. */
export async function noScreenError(ctx: OperationContext, name: string): Promise<TeamError> {
  const unproven = await unprovenPaneError(ctx, name);
  if (unproven !== undefined) return unproven;
  const { ref } = ctx;
  return new TeamError("RECIPIENT_INACTIVE", `${name} has no screen now: it is not running.`, {
    hint: resumeHint(ref, [name]) ?? `See its state: teams status ${optionWords("--team", ref.team)}`,
  });
}
