import { dirname } from "node:path";
import { transcriptLine } from "../../agent/conversation/transcript.ts";
import { TeamError } from "../../errors.ts";
import { approvalDetails } from "../../operations/approvals/approvals.ts";
import { withShortRules } from "../../operations/approvals/request-texts.ts";
import type { OperationContext } from "../../operations/context.ts";
import { placeOfMember } from "../../operations/processes/place-of-member.ts";
import { teamOverview } from "../../operations/team-summary.ts";
import { startOfLastLines } from "../../os/files/lines.ts";
import type { StatusRecord } from "../../schema/status.ts";
import type { Content, OpenDocument, Source, TaskDetails, TeamLine } from "../../sidebar/documents.ts";
import { parseJsonLine } from "../../store/jsonl.ts";
import { openLineFeed } from "../../store/tail.ts";
import { memberWord } from "../../team/address-words.ts";
import { listTeams } from "../../team/config/config.ts";
import { conversationPath } from "../../team/records/conversation-path.ts";
import { readExit, readStatus } from "../../team/records/read-records.ts";
import type { TeamRef } from "../../team/ref.ts";
import { withProof } from "../../team/tasks/task-proof.ts";
import { findTask, getTask, listTasks } from "../../team/tasks/tasks.ts";
import { conversationLog } from "../../terminal/conversation-log.ts";
import { createPaneView } from "../../terminal/pane/pane-view.ts";
import { taskFacts } from "../../terminal/proof-text.ts";
import { taskState } from "../../terminal/task-text.ts";
import { terminalAbilities } from "../../terminal/terminal-abilities.ts";
import { optionWords } from "../../text/shell-quote.ts";
import { openTreeBell } from "../../wakeup/tree-bell.ts";
import { memberMessages } from "./recent-messages.ts";

/** Maximum entries of a conversation that the log shows. */
const ENTRIES = 400;
/** Rows of a conversation that are kept when it has more than twice as many: the shown rows seldom move. */
const CONVERSATION_ROWS = 10_000;
/** Maximum rows of a pane that the log shows. */
const PANE_ROWS = 2_000;

/** Opens a document of the sidebar. @throws TeamError */
export async function openDocument(
  ctx: OperationContext,
  source: Source,
  { plain }: { readonly plain: boolean },
): Promise<OpenDocument> {
  const { ref } = ctx;
  switch (source.kind) {
    case "request":
      return once(() => wholeRequest(ctx, source.id));
    case "diff":
      return once(async () => {
        const { readDiff } = await import("../../operations/landing/read-diffs.ts");
        return { kind: "diff", diff: await readDiff(ctx, source.member) };
      });
    case "messages":
      return openMessages(ctx, source.member);
    case "task":
      return openTask(ref, source.id);
    case "log":
      return openLog(ctx, source.member, plain);
    case "teams":
      return once(() => ({ kind: "teams", teams: teamLines(ctx) }));
    case "help":
      return once(() => ({ kind: "help" }));
  }
}

function once(read: () => Content | Promise<Content>): OpenDocument {
  let content: Content | undefined;
  return {
    read: async () => {
      content ??= await read();
      return content;
    },
    renews: "never",
    close: () => undefined,
  };
}

function openMessages({ ref, actor: own }: OperationContext, member: string): OpenDocument {
  const readMessages = memberMessages(ref, member);
  let known: Extract<Content, { kind: "messages" }> | undefined;
  const read = (): Content => {
    const messages = readMessages();
    if (known === undefined || known.messages !== messages) known = { kind: "messages", messages, own };
    return known;
  };
  return { read, renews: "with-data", close: () => undefined };
}

async function wholeRequest({ ref }: OperationContext, id: string): Promise<Content> {
  const details = withShortRules(ref, await approvalDetails(ref, id));
  if (details.kind !== "crash") return { kind: "request", request: details };
  const lines = readExit(ref, details.from)?.lastLines ?? [];
  return { kind: "request", request: { ...details, question: lines.join("\n") } };
}

function openTask(ref: TeamRef, id: string): OpenDocument {
  let known: TaskDetails | undefined;
  const read = (): TaskDetails => {
    // A task that was deleted meanwhile stays readable.
    const isGone = known !== undefined && findTask(ref, id) === undefined;
    if (known !== undefined && isGone) return { ...known, facts: ["state:      deleted"] };
    const task = withProof(ref, getTask(ref, id));
    const all = listTasks(ref, () => undefined);
    const facts = taskFacts(task, taskState(task, all));
    known = { subject: task.subject, facts, description: task.description };
    return known;
  };
  return { read: () => ({ kind: "task", task: read() }), renews: "with-data", close: () => undefined };
}

function teamLines({ home, ref }: OperationContext): readonly TeamLine[] {
  return listTeams(home).map((entry) => {
    const { name: team, displayName, members, waiting, problem } = teamOverview(home, entry);
    const line = { team, displayName, members: members.length, waiting, isShown: team === ref.team };
    return problem === null ? line : { ...line, problem };
  });
}

/** Opens the conversation of our own agent, else the rows of the member's pane. */
async function openLog(ctx: OperationContext, name: string, plain: boolean): Promise<OpenDocument> {
  const status = readStatus(ctx.ref, name);
  if (status !== undefined && status.ownInbox !== true) {
    const transcript = conversationPath(ctx.ref, status);
    return conversation(ctx, name, { ...status, transcript }, plain);
  }
  const place = await placeOfMember(ctx, name);
  const backend = place && ctx.backends.of(place.backend);
  if (place === undefined || backend === undefined) {
    throw new TeamError("RECIPIENT_INACTIVE", `${name} has no conversation and no pane.`, {
      hint: `See its state: teams status ${optionWords("--team", ctx.ref.team)}`,
    });
  }
  return {
    read: async () => ({ kind: "log", rows: trimmed((await backend.capture(place, PANE_ROWS)) ?? []) }),
    renews: "with-data",
    close: () => undefined,
  };
}

/** Drops empty rows at the end of a screen. */
function trimmed(rows: readonly string[]): readonly string[] {
  return rows.slice(0, rows.findLastIndex((row) => row.trim() !== "") + 1);
}

function conversation(
  { env, ref }: OperationContext,
  name: string,
  { transcript, cwd }: StatusRecord & { readonly cwd?: string },
  plain: boolean,
): OpenDocument {
  const start = startOfLastLines(transcript, ENTRIES);
  const older = `… older entries: teams logs ${memberWord(ref, name, env)} --all`;
  let shown: { readonly width: number; readonly poll: () => Content } | undefined;
  const renderer = (width: number): NonNullable<typeof shown> => {
    let text = "";
    const view = createPaneView({
      write: (piece) => {
        text += piece;
      },
      name: "",
      cwd,
      width: () => width,
      plain,
      whole: true,
      markdown: true,
      abilities: { ...terminalAbilities(env), links: false },
    });
    const show = conversationLog(view);
    const feed = openLineFeed(transcript, parseJsonLine(transcriptLine), { from: start });
    let rows: readonly string[] = start > 0 ? [older] : [];
    let content: Content = { kind: "log", rows };
    return {
      width,
      poll: () => {
        const lines = feed.poll();
        show(lines);
        if (text === "") return content;
        rows = [...rows, ...text.trimEnd().split("\n")];
        text = "";
        if (rows.length > 2 * CONVERSATION_ROWS) rows = [older, ...rows.slice(-CONVERSATION_ROWS)];
        content = { kind: "log", rows };
        return content;
      },
    };
  };
  return {
    read: (width) => {
      if (shown?.width !== width) shown = renderer(width);
      return shown.poll();
    },
    renews: openTreeBell([dirname(transcript)]),
    close() {
      if (typeof this.renews === "object") this.renews.close();
    },
  };
}
