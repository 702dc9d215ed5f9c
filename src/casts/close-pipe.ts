import { TAG } from "../backend/tmux/pane-tags.ts";
import { serverAt } from "../backend/tmux/server-for.ts";
import type { Env } from "../os/env.ts";
import { allOf, equals, escapeFormat, ifElse, type TmuxCommand } from "../tmux/command.ts";
import { paneId } from "../tmux/ids.ts";
import { isGone } from "../tmux/server.ts";
import type { Recording } from "./recording.ts";

/** Milliseconds for which tmux shows why a recording has ended. */
const SHOWN_MS = 10_000;

/**
 * Closes the pipe of a pane whose recording ended before the pane: tmux notices the end of a reader only at the next output. Call it in
 * the recorder while its input is open: until then, the pipe is its own.
 * @param why shown to the users who look at the pane; undefined shows nothing
 * @throws TeamError TMUX_ERROR
 */
export async function closePipe({ pane, socket, agent }: Recording, why: string | undefined, env: Env) {
  const id = paneId(pane);
  if (id === undefined) return;
  const text = escapeFormat(`teams: the recording of ${agent} has ended: ${why}`).replaceAll("%", "%%");
  const show: TmuxCommand = ["display-message", "-d", String(SHOWN_MS), "-t", id, text];
  const close: readonly TmuxCommand[] = [
    ["pipe-pane", "-t", id],
    ["set-option", "-p", "-u", "-t", id, TAG.cast],
    ...(why === undefined ? [] : [show]),
  ];
  const isRecorded = allOf(equals("pane_id", id), equals(TAG.cast, "1"));
  try {
    await serverAt({ socket }, env).batch([ifElse(id, isRecorded, close, [["display-message", "-p", ""]])]);
  } catch (error) {
    if (!isGone(error)) throw error;
  }
}
