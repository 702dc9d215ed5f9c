import { EXIT, TeamError } from "../../errors.ts";
import { answerApproval } from "../../operations/approvals/approvals.ts";
import type { OperationContext } from "../../operations/context.ts";
import { isRecordedHidden, setHidden } from "../../operations/hide-pane.ts";
import { filesContext, operationContext } from "../../runtime/operation-context.ts";
import { type OpenTeam, openTeam } from "../../runtime/select-team.ts";
import { closeSidebar, openSidebar, widthKeeper } from "../../runtime/sidebar-pane.ts";
import type { Answer } from "../../sidebar/state.ts";
import type { AnyCall } from "../../terminal/call.ts";
import { line, wantsColors } from "../../terminal/output.ts";
import { shellWord } from "../../text/shell-quote.ts";
import { defineCommand } from "../command.ts";
import { focusFirstPane } from "../focus-member.ts";
import { moveAfterRename } from "../follow-team.ts";
import { SidebarFeed } from "../sidebar-feed.ts";
import { readStuckAfterMs } from "../stuck-after.ts";

export const command = defineCommand({
  name: "sidebar",
  summary: "Show the team's members, tasks and messages in this pane",
  args: [{ name: "name", summary: "the team", optional: true }],
  options: { split: { summary: "open it to the right of this pane, or close it if it is open" } },
  examples: ["teams sidebar", "teams sidebar review", "teams sidebar --split"],
  notes:
    "Keys: j k move, Enter goes to the pane, a and r answer requests, h hides or shows the pane, q closes. Closing the sidebar loses nothing.",
  async run(call) {
    const { args, options, io } = call;
    const open = openTeam(io.env, { ...options, team: args.name ?? options.team });
    if (options.split) return toggle(call, open);
    if (!io.terminal.stdin || !io.terminal.stdout) {
      throw new TeamError("INVALID_INPUT", "The sidebar needs a terminal, and stdin or stdout is not one.", {
        hint: "Use teams status --watch, or teams status --json.",
      });
    }
    return draw(call, open);
  },
});

async function draw(call: AnyCall, open: OpenTeam): Promise<number> {
  const { io } = call;
  const ctx = await operationContext(call, open);
  const { runSidebar } = await import("../../sidebar/sidebar.ts");
  const feed = new SidebarFeed(ctx, filesContext(call, open), await readStuckAfterMs(call, ctx.home));
  const end = await runSidebar({
    load: () => feed.load(),
    changed: feed.changed,
    act: {
      focus: (member) => focus(ctx, member),
      hide: (member) => hide(ctx, member),
      answer: (given) => answer(ctx, given),
    },
    // If this fails, the sidebar has the width that tmux gives it: not worth a message.
    resized: widthKeeper(io, open.ref, () => undefined),
    color: wantsColors(io.env, true),
    signal: io.interruption(),
  });
  if (end === "team-gone" && moveAfterRename(open.ref)) return draw(call, open);
  if (end === "team-gone") call.out.note(line`Team ${open.ref.team} is gone.`);
  return EXIT.done;
}

/** @returns a message for the user; undefined if the pane is shown */
async function focus(ctx: OperationContext, member: string): Promise<string | undefined> {
  const outcome = await focusFirstPane(ctx, [member]);
  if (outcome.kind === "switched") return undefined;
  return outcome.kind === "gone"
    ? `${member} has no pane.`
    : `No terminal is attached. Run: ${outcome.argv.map(shellWord).join(" ")}`;
}

/** @returns the result, short enough for the narrow bottom line */
async function hide(ctx: OperationContext, member: string): Promise<string> {
  const isToHide = !isRecordedHidden(ctx, member);
  const outcome = await setHidden(ctx, member, isToHide);
  if (outcome === "own-window") return `${member} has its own window`;
  return isToHide ? `${member} is hidden; h shows it` : `${member} is shown again`;
}

async function answer(ctx: OperationContext, { id, from, approve, note }: Answer): Promise<string> {
  try {
    const { kind } = await answerApproval(ctx, id, { approve, ...(note === "" ? {} : { note }) });
    if (kind === "crash") return `${from} ${approve ? "is restarted" : "is removed from the team"}`;
  } catch (error) {
    const late = ["ALREADY_ANSWERED", "REQUEST_NOT_FOUND"];
    if (error instanceof TeamError && late.includes(error.code)) return `${from} already has an answer`;
    throw error;
  }
  return `Answered ${from}: ${approve ? "yes" : "no"}`;
}

async function toggle(call: AnyCall, { ref }: OpenTeam): Promise<number> {
  const { io, out } = call;
  const pane = io.env.TMUX ? io.env.TMUX_PANE : undefined;
  if (pane === undefined) {
    throw new TeamError(
      "INVALID_INPUT",
      "--split needs a tmux pane, and this terminal is not one; nothing was changed.",
      { hint: "Run it inside tmux, or run `teams sidebar` in any terminal." },
    );
  }
  if (await closeSidebar(io, ref, pane)) {
    out.done({ team: ref.team, open: false }, () => "");
    return EXIT.done;
  }
  const paneId = await openSidebar(io, ref, pane);
  out.done({ team: ref.team, open: true, paneId }, () => "");
  return EXIT.done;
}
