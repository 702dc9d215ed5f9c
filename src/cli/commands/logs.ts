import { dirname } from "node:path";
import * as z from "zod/mini";
import { type TranscriptLine, transcriptLine } from "../../agent/conversation/transcript.ts";
import { EXIT, TeamError } from "../../errors.ts";
import { entryOf } from "../../os/files/fs.ts";
import { debugPath } from "../../protocol/paths.ts";
import { type OpenTeam, openAddress } from "../../runtime/select-team.ts";
import type { StatusRecord } from "../../schema/status.ts";
import { parseJsonLine } from "../../store/jsonl.ts";
import { type LineFeed, openLineFeed } from "../../store/tail.ts";
import { readStatus } from "../../team/records/read-records.ts";
import { rotatedPath } from "../../telemetry/event-log.ts";
import type { AnyCall } from "../../terminal/call.ts";
import { conversationLog } from "../../terminal/conversation-log.ts";
import { wantsColors } from "../../terminal/output.ts";
import { createPaneView } from "../../terminal/pane-view.ts";
import { operand, optionWords } from "../../text/shell-quote.ts";
import { stripControls } from "../../text/terminal-text.ts";
import { defineCommand, usageError } from "../command.ts";
import { follow } from "../follow-team.ts";
export const command = defineCommand({
  name: "logs",
  summary: "Print an agent's conversation: its input, answers, tool calls and results",
  args: [{ name: "agent", summary: "the member: name or name@team" }],
  options: {
    follow: { short: "f", summary: "keep printing new entries" },
    raw: { summary: "print the lines of the conversation's file unchanged" },
    debug: { summary: "print its debug log instead: its decisions and their reasons" },
  },
  examples: ["teams logs reviewer", "teams logs reviewer -f", "teams logs team-lead --debug"],
  notes:
    "An agent writes a debug log if it was started with --debug (run, spawn) or with TEAMS_DEBUG=1 in its environment.",
  async run(call) {
    const { args, options, io } = call;
    if (options.raw && options.debug) throw usageError(command, "accepts --raw or --debug, not both.");
    const open = openAddress(io.env, options, args.agent);
    const status = readStatus(open.ref, open.member.name);
    if (status === undefined) throw noConversationError(open, open.member.name);
    const log = options.debug ? debugLog(call, open, status) : conversation(call, status, options.raw);
    if (!options.follow) {
      log.showAll();
      return EXIT.done;
    }
    const printNew = (): boolean => {
      log.showNew();
      return false;
    };
    await follow(open.ref, printNew, { signal: io.interruption(), alsoWatch: [dirname(log.file)] });
    return EXIT.interrupted;
  },
});

/** Prints a log: all of it, or its new entries. */
interface LogView {
  readonly file: string;
  showAll(): void;
  /** Prints the entries since the last call, one by one. */
  showNew(): void;
}

function conversation(call: AnyCall, { transcript }: StatusRecord, raw: boolean): LogView {
  const { io, out } = call;
  if (raw || out.json) {
    const feed = openLineFeed(transcript, parseJsonLine(z.looseObject({})));
    const print = (entry: object): void => out.item(entry, () => JSON.stringify(entry));
    return logView(transcript, feed, print, (entries) => {
      if (raw) for (const entry of entries) print(entry);
      else out.answer({ entries }, () => "");
    });
  }
  const view = createPaneView({
    write: io.out,
    name: "",
    width: () => io.columns ?? Number.POSITIVE_INFINITY,
    plain: !wantsColors(io.env, io.terminal.stdout),
    whole: true,
  });
  const show = conversationLog(view);
  const feed = openLineFeed(transcript, parseJsonLine(transcriptLine));
  return logView<TranscriptLine>(transcript, feed, show, (lines) => {
    for (const line of lines) show(line);
    view.end();
  });
}

/** @throws TeamError INVALID_INPUT if the agent writes no debug log */
function debugLog({ out }: AnyCall, { home, member }: OpenMember, { sessionId }: StatusRecord): LogView {
  const file = debugPath(home.root, sessionId);
  if (entryOf(file) === undefined) {
    throw new TeamError("INVALID_INPUT", `${member.name} writes no debug log.`, {
      hint: "Start it with --debug (teams spawn, teams run) or with TEAMS_DEBUG=1 in its environment.",
    });
  }
  const feed = openLineFeed(file, (text) => [text], rotatedPath(file));
  const print = (text: string): void => out.item({ line: text }, () => stripControls(text));
  return logView(file, feed, print, (lines) => {
    out.answer({ lines }, () => stripControls(lines.join("\n")));
  });
}

type OpenMember = OpenTeam & { readonly member: { readonly name: string } };

function logView<T>(
  file: string,
  feed: LineFeed<T>,
  print: (line: T) => void,
  printAll: (lines: readonly T[]) => void,
): LogView {
  return {
    file,
    showAll: () => printAll(feed.poll()),
    showNew: () => {
      for (const line of feed.poll()) print(line);
    },
  };
}

function noConversationError({ ref }: OpenTeam, name: string): TeamError {
  return new TeamError(
    "RECIPIENT_INACTIVE",
    `${name} has no conversation: teams has started no agent with this name.`,
    {
      hint: `See its messages: teams inbox ${operand(name)} --all   or the members: teams status ${optionWords("--team", ref.team)}`,
    },
  );
}
