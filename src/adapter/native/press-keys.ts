import { identityCondition } from "../../backend/tmux/pane-tags.ts";
import { TeamError } from "../../errors.ts";
import type { PlaceRecord } from "../../schema/status.ts";
import { allOf, ifElse, type TmuxCommand } from "../../tmux/command.ts";
import type { PaneId } from "../../tmux/ids.ts";
import { isNoServer, type TmuxServer } from "../../tmux/server.ts";

/**
 * Why a key was not pressed: the pane is no longer the proven one, has another program in the foreground, is in a tmux mode, has its
 * input off, or is in a window that passes each key to all its panes.
 */
export type PressRefusal = "gone" | "other-program" | "in-mode" | "input-off" | "synchronized";

/** The reasons, each as the end of a sentence about the pane. */
export const PRESS_REFUSALS: Readonly<Record<PressRefusal, string>> = {
  gone: "it was closed",
  "other-program": "another program is in its foreground",
  "in-mode": "it is in copy mode",
  "input-off": "its input is off",
  synchronized: "its window passes each key to all panes (synchronize-panes)",
};
const REFUSALS = Object.keys(PRESS_REFUSALS) as PressRefusal[];
const PRESSED = "PRESSED";

/**
 * Presses keys in a pane; the check and the keys are one tmux call.
 * @param keys tmux names of keys
 * @param also an additional tmux condition: that the program is in the foreground
 * @throws TmuxError
 */
export async function pressKeys(
  server: TmuxServer,
  place: PlaceRecord,
  keys: readonly string[],
  also?: string,
): Promise<"pressed" | PressRefusal> {
  const identity = identityCondition(place);
  if (identity === undefined) return "gone";
  const { pane, condition } = identity;
  const flags = ["pane_dead", "pane_in_mode", "pane_input_off", "pane_synchronized"];
  const conditions = [condition, ...flags.map((flag) => `#{==:#{?${flag},1,0},0}`)];
  const isFree = allOf(...conditions, ...(also === undefined ? [] : [also]));
  const inner =
    "#{?pane_in_mode,in-mode,#{?pane_input_off,input-off,#{?pane_synchronized,synchronized,other-program}}}";
  const print = (text: string): TmuxCommand => ["display-message", "-p", "-t", pane, text];
  // No single format for all: display-message would expand the % of a pane's id as strftime does.
  const why = ifElse(pane, condition, [print(`#{?pane_dead,gone,${inner}}`)], [print("gone")]);
  try {
    const { lines, errors } = await server.batch([
      ifElse(pane, isFree, [["send-keys", "-t", pane, "--", ...keys], print(PRESSED)], [why]),
    ]);
    // A hook of the user may print other lines.
    if (lines.includes(PRESSED)) return "pressed";
    const refusal = REFUSALS.find((one) => lines.includes(one));
    if (refusal === undefined && errors.length > 0) throw refusedKeys(pane, errors);
    return refusal ?? "gone";
  } catch (error) {
    if (isNoServer(error)) return "gone";
    throw error;
  }
}

function refusedKeys(pane: PaneId, errors: readonly string[]): TeamError {
  return new TeamError("TMUX_ERROR", `tmux pressed no key in pane ${pane}: ${errors.join("; ")}.`, {
    hint: "Press the keys in the pane yourself.",
    details: { kind: "refused", errors },
  });
}
