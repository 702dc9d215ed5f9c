import { EXIT, TeamError } from "../../errors.ts";
import { answerApproval } from "../../operations/approvals/approvals.ts";
import type { OperationContext } from "../../operations/context.ts";
import { isWrittenHidden, setHidden } from "../../operations/hide-pane.ts";
import { teamStatus } from "../../operations/status.ts";
import { Lifelines } from "../../operations/supervision/lifelines.ts";
import { isLed, reconcile } from "../../operations/supervision/reconcile.ts";
import { lookAtTasks } from "../../operations/supervision/task-notifications.ts";
import { filesContext, operationContext } from "../../runtime/operation-context.ts";
import { type OpenTeam, openTeam } from "../../runtime/select-team.ts";
import { closeSidebar, openSidebar, widthKeeper } from "../../runtime/sidebar-pane.ts";
import type { Answer } from "../../sidebar/state.ts";
import { ReadCache } from "../../store/read-cache.ts";
import type { AnyCall } from "../../terminal/call.ts";
import { line, wantsColors } from "../../terminal/paint.ts";
import { withStuck } from "../../terminal/status-text.ts";
import { shellWord } from "../../text/shell-quote.ts";
import { anyBell } from "../../wakeup/merged-bell.ts";
import { defineCommand } from "../define-command.ts";
import { goToFirst } from "../focus-member.ts";
import { teamBell } from "../follow-team.ts";
import { recentMessages } from "../recent-messages.ts";
import { stuckAfter } from "../stuck-after.ts";

/** More than the tallest screen shows. */
const MESSAGES = 100;

export const command = defineCommand({
  name: "sidebar",
  summary: "Show the team at a glance, in this pane",
  args: [{ name: "name", summary: "the team", optional: true }],
  options: { split: { summary: "open it to the right of this pane, or close it if it is there" } },
  examples: ["teams sidebar", "teams sidebar review", "teams sidebar --split"],
  notes:
    "Keys: j k move, Enter goes to the pane, a and r answer what waits, h hides or shows it, q closes. Closing it loses nothing.",
  async run(call) {
    const { args, options, io } = call;
    const open = openTeam(io.env, { ...options, team: args.name ?? options.team });
    if (options.split) return toggle(call, open);
    if (!io.terminal.stdin || !io.terminal.stdout) {
      throw new TeamError("INVALID_INPUT", "The sidebar is drawn on a terminal, and this is not one.", {
        hint: "Without one: teams status --watch, or teams status --json.",
      });
    }
    return draw(call, open);
  },
});

async function draw(call: AnyCall, open: OpenTeam): Promise<number> {
  const { io } = call;
  const remembering = { ...open, ref: { ...open.ref, readCache: new ReadCache() } };
  const ctx = await operationContext(call, remembering);
  const reading = filesContext(call, remembering);
  const { runSidebar } = await import("../../sidebar/sidebar.ts");
  const lifelines = new Lifelines(ctx);
  const stuckAfterMs = await stuckAfter(call, ctx.home);
  const end = await runSidebar({
    load: async () => {
      if (!isLed(ctx)) {
        lifelines.follow();
        await reconcile(ctx);
        await lookAtTasks(ctx);
      }
      const status = await teamStatus(reading);
      const since = { now: ctx.clock.now(), stuckAfterMs };
      const members = status.members.map((member) => withStuck(member, since));
      return { status: { ...status, members }, messages: recentMessages(open.ref, MESSAGES) };
    },
    changed: anyBell([teamBell(open.ref), lifelines.bell]),
    act: {
      focus: (member) => focus(ctx, member),
      hide: (member) => hide(ctx, member),
      answer: (given) => answer(ctx, given),
    },
    // Without it the sidebar is as wide as tmux makes it: nothing that a person has to be told.
    resized: widthKeeper(io, open.ref, () => undefined),
    color: wantsColors(io.env, true),
    signal: io.interruption(),
  });
  if (end === "team-gone") call.out.note(line`Team ${open.ref.team} is gone.`);
  return EXIT.done;
}

/** @returns what there is to say about it; nothing where the pane shows */
async function focus(ctx: OperationContext, member: string): Promise<string | undefined> {
  const outcome = await goToFirst(ctx, [member]);
  if (outcome.kind === "switched") return undefined;
  return outcome.kind === "gone"
    ? `${member} has no pane.`
    : `No terminal shows it: ${outcome.argv.map(shellWord).join(" ")}`;
}

/** @returns what became of it, short enough for the narrow bottom line */
async function hide(ctx: OperationContext, member: string): Promise<string> {
  const wanted = !isWrittenHidden(ctx, member);
  const outcome = await setHidden(ctx, member, wanted);
  if (outcome === "apart") return `${member} has a window of its own`;
  return wanted ? `${member} is hidden; h shows it` : `${member} is shown again`;
}

async function answer(ctx: OperationContext, { id, from, approve, note }: Answer): Promise<string> {
  try {
    const { kind } = await answerApproval(ctx, id, { approve, ...(note === "" ? {} : { note }) });
    if (kind === "crash") return `${from} ${approve ? "is at work again" : "has left the team"}`;
  } catch (error) {
    const late = ["ALREADY_ANSWERED", "REQUEST_NOT_FOUND"];
    if (error instanceof TeamError && late.includes(error.code)) return `${from} has its answer already`;
    throw error;
  }
  return `${from} is told: ${approve ? "yes" : "no"}`;
}

async function toggle(call: AnyCall, { ref }: OpenTeam): Promise<number> {
  const { io, out } = call;
  const beside = io.env.TMUX ? io.env.TMUX_PANE : undefined;
  if (beside === undefined) {
    throw new TeamError(
      "INVALID_INPUT",
      "--split splits a pane of tmux, and this is not one; nothing was changed.",
      { hint: "Run it inside tmux, or `teams sidebar` in any terminal." },
    );
  }
  if (await closeSidebar(io, ref, beside)) {
    out.done({ team: ref.team, open: false }, () => "");
    return EXIT.done;
  }
  const paneId = await openSidebar(io, ref, beside);
  out.done({ team: ref.team, open: true, paneId }, () => "");
  return EXIT.done;
}
