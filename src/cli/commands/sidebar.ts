import { EXIT, messageOf, TeamError } from "../../errors.ts";
import { moveAfterRename } from "../../operations/follow-team.ts";
import { filesContext, operationContext } from "../../runtime/operation-context.ts";
import { namedTeam, type OpenTeam, openTeam } from "../../runtime/select-team.ts";
import { closeSidebar, openSidebar, widthKeeper } from "../../runtime/sidebar-pane.ts";
import type { AnyCall } from "../../terminal/call.ts";
import { line, wantsColors } from "../../terminal/output.ts";
import { terminalAbilities } from "../../terminal/terminal-abilities.ts";
import { defineCommand } from "../command.ts";
import { SidebarFeed } from "../sidebar/sidebar-feed.ts";
import { readStuckAfterMs } from "../stuck-after.ts";

export const command = defineCommand({
  name: "sidebar",
  summary: "Show the team's members, tasks and messages in this pane",
  args: [{ name: "name", summary: "the team", optional: true }],
  options: { split: { summary: "open it to the right of this pane, or close it if it is open" } },
  examples: ["teams sidebar", "teams sidebar review", "teams sidebar --split"],
  notes:
    "Keys: j k move, Enter goes to the pane, a and r answer requests, v shows one in full, d shows changes, m sends a message, q closes; ? lists all. Closing the sidebar loses nothing.",
  async run(call) {
    const { args, options, io } = call;
    const open = openTeam(io.env, { ...options, team: namedTeam(io.env, options, args.name) });
    if (options.split) return toggle(call, open);
    if (!io.terminal.stdin || !io.terminal.stdout) {
      throw new TeamError("INVALID_INPUT", "The sidebar needs a terminal, and stdin or stdout is not one.", {
        hint: "Use teams status --watch, or teams status --json.",
      });
    }
    return draw(call, open);
  },
});

/** @param resized called after each resize; by default, it keeps the width of this team's sidebar pane */
async function draw(call: AnyCall, open: OpenTeam, resized?: () => void): Promise<number> {
  const { io } = call;
  const ctx = await operationContext(call, open);
  const { runSidebar } = await import("../../sidebar/sidebar.ts");
  const { sidebarActions } = await import("../sidebar/sidebar-actions.ts");
  const { openDocument } = await import("../sidebar/sidebar-documents.ts");
  const feed = new SidebarFeed(ctx, filesContext(call, open), await readStuckAfterMs(call, ctx.home));
  const color = wantsColors(io.env, true);
  // If this fails, the sidebar has the width that tmux gives it: not worth a message.
  const keepWidth = resized ?? widthKeeper(io, open.ref, () => undefined);
  const end = await runSidebar({
    load: () => feed.load(),
    changed: feed.changed,
    act: {
      ...sidebarActions(call, open, ctx),
      open: (source) => openDocument(ctx, source, { plain: !color }),
    },
    resized: keepWidth,
    color,
    ascii: terminalAbilities(io.env).ascii,
    signal: io.interruption(),
  });
  if (end.kind === "other-team")
    return draw(call, openTeam(io.env, { ...call.options, team: end.team }), keepWidth);
  if (end.kind === "team-gone" && moveAfterRename(open.ref)) return draw(call, open, resized);
  if (end.kind === "team-gone") {
    call.out.note(line`Team ${open.ref.team} is gone.`);
    await closePane(call, open);
  }
  return EXIT.done;
}

/** Closes a pane that `run` or `--split` has opened: if only its process ended, the window would lose its zoom and its earlier layout. */
async function closePane({ io, out }: AnyCall, { ref }: OpenTeam): Promise<void> {
  const pane = io.env.TMUX ? io.env.TMUX_PANE : undefined;
  if (pane === undefined) return;
  try {
    await closeSidebar(io, ref, pane);
  } catch (error) {
    out.note(line`Its pane was not closed: ${messageOf(error)}`);
  }
}

async function toggle(call: AnyCall, { ref }: OpenTeam): Promise<number> {
  const { io, out } = call;
  const pane = io.env.TMUX ? io.env.TMUX_PANE : undefined;
  if (pane === undefined) {
    throw new TeamError(
      "INVALID_INPUT",
      "--split needs a tmux pane, and this terminal is not one; nothing was changed.",
      { hint: "Run the command inside tmux, or run `teams sidebar` in any terminal." },
    );
  }
  if (await closeSidebar(io, ref, pane)) {
    out.done({ team: ref.team, open: false }, () => "");
    return EXIT.done;
  }
  const { pane: paneId } = await openSidebar(io, ref, pane);
  out.done({ team: ref.team, open: true, paneId }, () => "");
  return EXIT.done;
}
