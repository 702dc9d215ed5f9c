import { identityCondition } from "../../backend/tmux/pane-tags.ts";
import type { PlaceRecord } from "../../schema/status.ts";
import { isNoServer, type TmuxServer } from "../../tmux/server.ts";

/** A condition that is never true. */
const NEVER = "0";

/**
 * Returns a tmux condition that is true while the foreground command of a pane keeps its current name. It becomes false when a shell
 * takes over.
 * @throws TeamError TMUX_ERROR
 */
export async function commandNow(server: TmuxServer, place: PlaceRecord): Promise<string> {
  const identity = identityCondition(place);
  if (identity === undefined) return NEVER;
  try {
    const { lines } = await server.batch([
      ["display-message", "-p", "-t", identity.pane, `${MARK}#{pane_current_command}`],
    ]);
    const name = lines.find((line) => line.startsWith(MARK))?.slice(MARK.length);
    // A character that could end the format becomes ?, which matches any character.
    return name === undefined ? NEVER : `#{m:${name.replace(/[^\w@.-]/g, "?")},#{pane_current_command}}`;
  } catch (error) {
    if (isNoServer(error)) return NEVER;
    throw error;
  }
}

const MARK = "command ";
