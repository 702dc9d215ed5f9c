import { setPermissionMode } from "../../operations/permission-mode.ts";
import { teamStatus } from "../../operations/status.ts";
import { entryOf } from "../../os/files/fs.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import { bypassForbiddenBy } from "../../settings/settings.ts";
import { readTeam } from "../../team/config/config.ts";
import { modeToInherit } from "../../team/members/permission-mode.ts";
import { listTasks } from "../../team/tasks/tasks.ts";
import { statusText, taskTable } from "../../terminal/status-text.ts";
import type { Worker } from "../../worker/worker.ts";
import type { Lead } from "./lead.ts";

/** What a person can type in a lead's pane besides words to it, and what each does. */
const LEAD_COMMANDS = {
  status: "members, what they do, what waits for you",
  tasks: "the task list",
  delegate: "the lead only coordinates; once more, and it works itself again (also Shift+Tab)",
  exit: "ends the team, in order, and the run (also Ctrl-D, or Ctrl-C twice)",
  help: "these lines",
} as const;
type LeadCommand = keyof typeof LEAD_COMMANDS;

/** What a typed line is. */
type TypedLine =
  | { readonly kind: "message" }
  | { readonly kind: "command"; readonly command: LeadCommand }
  /** Begins as a command does and is none that there is: nobody is told of it. */
  | { readonly kind: "unknown"; readonly why: string };

/**
 * Tells a command from a message to the lead. A line that begins with a path is a message.
 * @param exists whether a file of this path is there
 */
export function readTypedLine(line: string, exists: (path: string) => boolean): TypedLine {
  const [, word, rest = ""] = /^\s*(\/[a-z][a-z-]*)(?:\s+(.*\S))?\s*$/is.exec(line) ?? [];
  if (word === undefined) return { kind: "message" };
  const command = word.slice(1).toLowerCase();
  if (!isCommand(command)) {
    return exists(word)
      ? { kind: "message" }
      : { kind: "unknown", why: `there is no ${word}; /help lists what there is` };
  }
  return rest === ""
    ? { kind: "command", command }
    : { kind: "unknown", why: `${word} takes nothing after it: the rest was not sent` };
}

function isCommand(word: string): word is LeadCommand {
  return Object.hasOwn(LEAD_COMMANDS, word);
}

/** Takes a line that a person typed in the lead's pane: a command, or a message to the lead. */
export async function leadTyped(lead: Lead, worker: Worker, line: string): Promise<void> {
  const typed = readTypedLine(line, (path) => entryOf(path) !== undefined);
  if (typed.kind === "message") return worker.handleTypedLine(line);
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
  await setPermissionMode(ctx, LEAD_NAME, next, {
    decider: "person",
    forbidden: bypassForbiddenBy(settings(), ctx.env),
  });
}
