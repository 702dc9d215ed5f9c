import { EXIT } from "../../errors.ts";
import type { LeadContext } from "../../lead/context.ts";
import { wayBack } from "../../lead/ended-members.ts";
import { tellTaskNews } from "../../lead/look-at-tasks.ts";
import { reconcileUnlessLed } from "../../lead/reconcile.ts";
import { type TeamStatus, teamStatus } from "../../lead/status.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import { hasNews } from "../../team/task-tell.ts";
import { type AnyCall, defineCommand } from "../command.ts";
import { filesContext, leadContext } from "../context.ts";
import { follow } from "../follow.ts";
import { line } from "../paint.ts";
import { usageError } from "../parse.ts";
import { brokenTasksNote, statusLine, statusText } from "../status-text.ts";
import { openTeam } from "../team.ts";

export const command = defineCommand({
  name: "status",
  summary: "Members, what they do, tasks, tokens, and what waits for you",
  args: [{ name: "name", summary: "the team", optional: true }],
  options: {
    watch: { short: "w", summary: "draw it anew whenever something changes" },
    git: { summary: "ask git of each worktree: its branch, commits ahead and behind, what is uncommitted" },
    line: { summary: "one line, for a status bar; reads files only" },
  },
  examples: ["teams status", "teams status review --json --git", "teams status --watch"],
  async run(call) {
    const { args, options, io, out } = call;
    if (options.line && options.git) throw usageError(command, "takes --line or --git, not both.");
    const open = openTeam(io.env, { ...options, team: args.name ?? options.team });
    if (options.line) {
      const status = await teamStatus(filesContext(call, open));
      const { broken } = status.tasks;
      if (broken) out.note(brokenTasksNote(broken));
      out.answer({ line: statusLine(status), ...(broken && { broken }) }, () => statusLine(status));
      return EXIT.done;
    }
    const ctx = await leadContext(call, open);
    if (options.watch) return watch(call, ctx, options);
    const status = await current(ctx, options);
    out.answer(status, () => textOf(ctx, status, out));
    return EXIT.done;
  },
});

interface Asked {
  readonly git: boolean;
}

/** Deaths that nobody has noticed yet are noticed first, so that the picture is whole; and what nobody told is told. */
async function current(ctx: LeadContext, { git }: Asked): Promise<TeamStatus> {
  await reconcileUnlessLed(ctx);
  const status = await teamStatus(ctx, { git });
  const news = status.leadAlive === true ? [] : status.tasks.list.filter(hasNews);
  await tellTaskNews(
    ctx,
    news.map(({ id }) => id),
  );
  return status;
}

/** Where no lead sees to it, what brings back those that have ended is named. */
function textOf({ ref }: LeadContext, status: TeamStatus, out: AnyCall["out"]): string {
  const names = status.members.flatMap(({ name }) => (name === LEAD_NAME ? [] : [name]));
  const way = status.leadAlive === true ? undefined : wayBack(ref, names);
  const text = statusText(status, out);
  return way === undefined ? text : `${text}\n\n${line`${way}`}`;
}

const CLEAR = "\x1b[H\x1b[2J";

async function watch({ io, out }: AnyCall, ctx: LeadContext, asked: Asked): Promise<number> {
  const signal = io.interruption();
  let before = "";
  await follow(
    ctx.ref,
    async () => {
      const status = await current(ctx, asked);
      const picture = out.json ? JSON.stringify(status) : textOf(ctx, status, out);
      if (picture !== before)
        out.item(status, () => (io.terminal.stdout ? `${CLEAR}${picture}` : `${picture}\n`));
      before = picture;
      return false;
    },
    { signal },
  );
  return EXIT.interrupted;
}
