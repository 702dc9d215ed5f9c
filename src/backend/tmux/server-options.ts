import { TeamError } from "../../errors.ts";
import { type AttemptedBatch, attemptBatch } from "../../tmux/attempt-batch.ts";
import type { BatchLine } from "../../tmux/command.ts";
import type { PaneList } from "../../tmux/list-panes.ts";
import { isNoServer, type TmuxServer } from "../../tmux/server.ts";
import { isAtLeast, type TmuxVersion } from "../../tmux/version.ts";

/** tmux's option for the size of a window; `listPanes` reads it among the user options. */
export const WINDOW_SIZE = "window-size";

/** True for tmux 3.3 to 3.6, which crash under a global `window-size manual` when a window is created. */
export function crashesAtManualSize(version: TmuxVersion): boolean {
  return isAtLeast(version, 3, 3) && !isAtLeast(version, 3, 7);
}

/**
 * Refuses to create a window that would crash the server.
 * @param seen panes with the option {@link WINDOW_SIZE}
 * @throws TeamError TMUX_ERROR
 */
export async function refuseManualSize(server: TmuxServer, { version, panes }: PaneList): Promise<void> {
  if (version === undefined || !crashesAtManualSize(version)) return;
  // A window that was resized by hand has the option too; under the global option, all windows have it.
  if (panes.length === 0 || panes.some(({ options }) => options[WINDOW_SIZE] !== "manual")) return;
  const value = await server.call(["show-options", "-gwv", WINDOW_SIZE]);
  if (/^manual$/m.test(value)) throw manualSize(version.text);
}

function manualSize(version: string): TeamError {
  return new TeamError(
    "TMUX_ERROR",
    `tmux ${version} would crash: the global option window-size is manual. Nothing was started.`,
    {
      hint: "Change the option, also in tmux.conf: tmux set -g window-size latest",
      details: { kind: "refused" },
    },
  );
}

/** The line that is printed for each attached terminal. */
const ATTACHED = "teams-attached";

/**
 * Runs a batch that creates panes, and starts the server if it is not running. Refuses a server that has no attached terminal and ends
 * without one: such a server ends with the client of this batch.
 * @throws TmuxError as {@link attemptBatch}; TeamError TMUX_ERROR
 */
export async function attemptCreation(
  server: TmuxServer,
  batch: readonly BatchLine[],
  { running, serverPid }: Pick<PaneList, "running" | "serverPid">,
): Promise<AttemptedBatch> {
  const facts = [
    ["show-options", "-s", "exit-unattached"],
    ["list-clients", "-F", ATTACHED],
  ];
  const answer = await attemptBatch(server, [...batch, ...facts], { start: !running, serverPid });
  const { lines } = answer;
  if (lines.includes("exit-unattached on") && !lines.includes(ATTACHED)) throw exitsUnattached();
  return answer;
}

/**
 * Returns the error for a server that has ended during a spawn, with the option that ended it. The server may already have been ending when
 * it was found. Starts it again to read its options.
 * @param error returned if no option explains the end
 */
export async function explainServerEnd(server: TmuxServer, error: unknown): Promise<unknown> {
  if (!isNoServer(error)) return error;
  const options = [
    ["show-options", "-sv", "exit-unattached"],
    ["show-options", "-gwv", WINDOW_SIZE],
  ];
  try {
    const { lines } = await server.batch(options, { start: true });
    if (lines[0] === "on") return exitsUnattached();
    const version = await server.version();
    return lines[1] === "manual" && crashesAtManualSize(version) ? manualSize(version.text) : error;
  } catch {
    // Report the first error.
    return error;
  }
}

function exitsUnattached(): TeamError {
  return new TeamError(
    "TMUX_ERROR",
    "The tmux server ends without an attached terminal: the option exit-unattached is on. Nothing was started.",
    {
      hint: "Run the command inside tmux, or change the option in tmux.conf: set -s exit-unattached off",
      details: { kind: "lost-server" },
    },
  );
}
