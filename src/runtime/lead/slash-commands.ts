import { setPermissionMode } from "../../operations/permission-mode.ts";
import { teamStatus } from "../../operations/status.ts";
import { entryOf } from "../../os/files/fs.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import { bypassForbiddenBy } from "../../settings/settings.ts";
import { readTeam } from "../../team/config/config.ts";
import { modeToInherit } from "../../team/members/permission-mode.ts";
import { listTasks } from "../../team/tasks/tasks.ts";
import { statusText, taskTable } from "../../terminal/status-text.ts";
import { operand } from "../../text/shell-quote.ts";
import type { Worker } from "../../worker/worker.ts";
import type { Lead } from "./lead.ts";

/** The commands that a user can type in the lead's pane, with their help texts. */
const LEAD_COMMANDS = {
  status: "show the members, what they do and what waits for you",
  tasks: "show the task list",
  delegate: "let the lead only coordinate; again: let it work itself, too (also Shift+Tab)",
  exit: "end the run; unfinished work is kept, unless you type /exit --delete (also Ctrl-D, or Ctrl-C twice)",
  help: "show this help",
} as const;
type LeadCommand = keyof typeof LEAD_COMMANDS;
const EXIT_AND_DELETE = "exit --delete";

type TypedLine =
  | { readonly kind: "message" }
  | { readonly kind: "command"; readonly command: LeadCommand | typeof EXIT_AND_DELETE }
  /** Begins like a command, but is not a valid one. It is not sent to the lead. */
  | { readonly kind: "unknown"; readonly reason: string };

/**
 * Parses a line as a command or as a message to the lead. A line that begins with an existing path is a message.
 * @param exists whether this path exists
 */
export function parseTypedLine(line: string, exists: (path: string) => boolean): TypedLine {
  const [, word, rest = ""] = /^\s*(\/[a-z][a-z-]*)(?:\s+(.*\S))?\s*$/is.exec(line) ?? [];
  if (word === undefined) return { kind: "message" };
  const command = word.slice(1).toLowerCase();
  if (!isCommand(command)) {
    return exists(word)
      ? { kind: "message" }
      : { kind: "unknown", reason: `there is no ${word}; /help lists the commands` };
  }
  if (`${command} ${rest}` === EXIT_AND_DELETE) return { kind: "command", command: EXIT_AND_DELETE };
  return rest === ""
    ? { kind: "command", command }
    : {
        kind: "unknown",
        reason: `${word} takes ${command === "exit" ? "only --delete" : "no arguments"}: nothing was done or sent`,
      };
}

function isCommand(word: string): word is LeadCommand {
  return Object.hasOwn(LEAD_COMMANDS, word);
}

/** Runs a line typed in the lead's pane as a command, or sends it to the lead. */
export async function handleLeadLine(lead: Lead, worker: Worker, line: string): Promise<void> {
  const typed = parseTypedLine(line, (path) => entryOf(path) !== undefined);
  if (typed.kind === "message") return worker.handleTypedLine(line);
  lead.view.typed(line);
  if (typed.kind === "unknown") return lead.view.note(typed.reason);
  await COMMANDS[typed.command](lead, worker);
}

/** Ends the run as the user has asked. A team that a person created is never deleted by its run. */
export function endByUser(lead: Lead, worker: Worker, exit: "keep" | "delete"): void {
  if (exit === "delete" && lead.plan.resumes?.wasByHand) {
    const { team } = lead.ctx.ref;
    const command = `teams delete ${operand(team)}`;
    lead.view.note(`${team} was led by hand, so its run cannot delete it: type /exit, then ${command}`);
    return;
  }
  lead.exit = exit;
  worker.finish();
}

const COMMANDS: Readonly<
  Record<LeadCommand | typeof EXIT_AND_DELETE, (lead: Lead, worker: Worker) => void | Promise<void>>
> = {
  status: async ({ ctx, call, settings, view }) => {
    const since = { now: ctx.clock.now(), stuckAfterMs: settings().teams.stuckAfter * 1000 };
    view.answer(statusText(await teamStatus(ctx), call.out, since));
  },
  tasks: ({ ctx, call, view }) => {
    const all = listTasks(ctx.ref, () => undefined);
    view.answer(all.length === 0 ? "No tasks yet." : taskTable(all, { ...call.out, among: all }));
  },
  delegate: toggleDelegate,
  exit: (lead, worker) => endByUser(lead, worker, "keep"),
  [EXIT_AND_DELETE]: (lead, worker) => endByUser(lead, worker, "delete"),
  help: ({ view }) => {
    const lines = Object.entries(LEAD_COMMANDS).map(([word, help]) => `/${word.padEnd(9)} ${help}`);
    view.answer(
      [...lines, "Any other line goes to the lead. Esc interrupts it, Ctrl-C twice ends the run."].join("\n"),
    );
  },
};

/**
 * Sets the lead's mode to delegate, or back to the mode before it. The lead's pane notes it once it has read its file.
 * @throws TeamError TEAM_NOT_FOUND
 */
export async function toggleDelegate({ ctx, settings }: Lead): Promise<void> {
  const lead = readTeam(ctx.ref).members.find(({ name }) => name === LEAD_NAME);
  const before = lead && modeToInherit(lead);
  const next = lead?.mode === "delegate" ? (before ?? "default") : "delegate";
  await setPermissionMode(ctx, LEAD_NAME, next, {
    decider: "person",
    forbidden: bypassForbiddenBy(settings(), ctx.env),
  });
}
