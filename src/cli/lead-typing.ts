import { setMode } from "../lead/set-mode.ts";
import { teamStatus } from "../lead/status.ts";
import { entryOf } from "../os/fs.ts";
import { LEAD_NAME } from "../schema/names.ts";
import { readTeam } from "../team/config.ts";
import { modeToInherit } from "../team/restarts.ts";
import { listTasks } from "../team/tasks.ts";
import type { Worker } from "../worker/worker.ts";
import type { Lead } from "./lead.ts";
import { LEAD_COMMANDS, type LeadCommand, readTypedLine } from "./lead-commands.ts";
import { bypassForbidden } from "./settings.ts";
import { statusText, taskTable } from "./status-text.ts";

/** Takes a line that a person typed in the lead's pane: a command, or a message to the lead. */
export async function leadTyped(lead: Lead, worker: Worker, line: string): Promise<void> {
  const typed = readTypedLine(line, (path) => entryOf(path) !== undefined);
  if (typed.kind === "message") return worker.typed(line);
  lead.view.typed(line);
  if (typed.kind === "unknown") return lead.view.note(typed.why);
  await COMMANDS[typed.command](lead, worker);
}

const COMMANDS: Readonly<Record<LeadCommand, (lead: Lead, worker: Worker) => void | Promise<void>>> = {
  status: async ({ ctx, call, settings, view }) => {
    const since = { now: ctx.clock.now(), stuckAfterMs: settings().teams.stuckAfter * 1000 };
    view.answer(statusText(await teamStatus(ctx), call.out, since));
  },
  tasks: ({ ctx, call, view }) => {
    const all = listTasks(ctx.ref, () => undefined);
    view.answer(all.length === 0 ? "No tasks yet." : taskTable(all, { ...call.out, among: all }));
  },
  delegate: switchDelegate,
  exit: (_, worker) => worker.finish(),
  help: ({ view }) => {
    const lines = Object.entries(LEAD_COMMANDS).map(([word, what]) => `/${word.padEnd(9)} ${what}`);
    view.answer(
      [...lines, "Any other line goes to the lead. Esc interrupts it, Ctrl-C twice ends the team."].join(
        "\n",
      ),
    );
  },
};

/**
 * Lets the lead only coordinate, or gives it back the mode from before; its pane says so when it follows its file.
 * @throws TeamError TEAM_NOT_FOUND
 */
export async function switchDelegate({ ctx, settings }: Lead): Promise<void> {
  const lead = readTeam(ctx.ref).members.find(({ name }) => name === LEAD_NAME);
  const before = lead && modeToInherit(lead);
  const next = lead?.mode === "delegate" ? (before ?? "default") : "delegate";
  await setMode(ctx, LEAD_NAME, next, {
    decider: "person",
    forbidden: bypassForbidden(settings(), ctx.env),
  });
}
