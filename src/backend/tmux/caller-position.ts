import { ancestorThat } from "../../os/process/ancestors.ts";
import { paneId, sessionId } from "../../tmux/ids.ts";
import type { PaneList } from "../../tmux/list-panes.ts";
import type { CallerPosition } from "../backend.ts";

/**
 * The variable `$TMUX_PANE` of the server's global environment, read among the options of `listPanes`. A server that was started in a
 * pane of another server has this variable, and passes it to popups, which have no pane.
 */
const INHERITED_PANE = "TMUX_PANE";

/** The options that {@link actualPosition} needs from `listPanes`. */
export const POSITION_OPTIONS = [INHERITED_PANE] as const;

/**
 * Returns the position of the caller as far as it is correct: `$TMUX` and `$TMUX_PANE` may come from a server that has been replaced, and
 * `$TMUX_PANE` from another server. Ids are valid only on their own server.
 * @param runsIn returns whether this process is a descendant of a process
 */
export function actualPosition(
  seen: PaneList,
  { callerPane, callerSession, callerServer }: CallerPosition,
  runsIn: (pid: number) => boolean = descendsFrom,
): Pick<CallerPosition, "callerPane" | "callerSession"> {
  if (callerServer !== undefined && callerServer !== seen.serverPid) return {};
  const own = seen.panes.find(({ id }) => id === paneId(callerPane));
  const isInherited = own !== undefined && own.options[INHERITED_PANE] === own.id && !runsIn(own.pid);
  const session = seen.panes.find(({ session: id }) => id === sessionId(callerSession))?.session;
  return {
    ...(own === undefined || isInherited ? {} : { callerPane: own.id }),
    ...(session === undefined ? {} : { callerSession: session }),
  };
}

function descendsFrom(pid: number): boolean {
  return ancestorThat((above) => above === pid) !== undefined;
}
