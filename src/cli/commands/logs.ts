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
import { olderLog } from "../../telemetry/event-log.ts";
import type { AnyCall } from "../../terminal/call.ts";
import { conversationLog } from "../../terminal/conversation-log.ts";
import { wantsColors } from "../../terminal/paint.ts";
import { createPaneView } from "../../terminal/pane-view.ts";
import { operand, optionWords } from "../../text/shell-quote.ts";
import { stripControls } from "../../text/terminal-text.ts";
import { defineCommand } from "../define-command.ts";
import { follow } from "../follow-team.ts";
import { usageError } from "../parse-args.ts";

export const command = defineCommand({
  name: "logs",
  summary: "Print an agent's conversation: what it was told, said, did and got back",
  args: [{ name: "agent", summary: "whose: name or name@team" }],
  options: {
    follow: { short: "f", summary: "keep printing what comes" },
    raw: { summary: "the lines of its file as they are" },
    debug: { summary: "its debug log instead: what was decided, and why" },
  },
  examples: ["teams logs reviewer", "teams logs reviewer -f", "teams logs team-lead --debug"],
  notes:
    "There is a debug log of an agent that was started with --debug (run, spawn) or with TEAMS_DEBUG=1 in its environment.",
  async run(call) {
    const { args, options, io } = call;
    if (options.raw && options.debug) throw usageError(command, "takes --raw or --debug, not both.");
    const open = openAddress(io.env, options, args.agent);
    const status = readStatus(open.ref, open.member.name);
    if (status === undefined) throw noConversation(open, open.member.name);
    const log = options.debug ? debugLog(call, open, status) : conversation(call, status, options.raw);
    if (!options.follow) {
      log.showAll();
      return EXIT.done;
    }
    const look = (): boolean => {
      log.showNew();
      return false;
    };
    await follow(open.ref, look, { signal: io.interruption(), beside: [dirname(log.file)] });
    return EXIT.interrupted;
  },
});

/** A log as this command shows it. */
interface Shown {
  readonly file: string;
  showAll(): void;
  /** One after another, what has come since the last look. */
  showNew(): void;
}

function conversation(call: AnyCall, { transcript }: StatusRecord, raw: boolean): Shown {
  const { io, out } = call;
  if (raw || out.json) {
    const feed = openLineFeed(transcript, parseJsonLine(z.looseObject({})));
    const print = (entry: object): void => out.item(entry, () => JSON.stringify(entry));
    return shown(transcript, feed, print, (entries) => {
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
  return shown<TranscriptLine>(transcript, feed, show, (lines) => {
    for (const line of lines) show(line);
    view.end();
  });
}

/** @throws TeamError INVALID_INPUT where none is written */
function debugLog({ out }: AnyCall, { home, member }: OpenMember, { sessionId }: StatusRecord): Shown {
  const file = debugPath(home.root, sessionId);
  if (entryOf(file) === undefined) {
    throw new TeamError("INVALID_INPUT", `${member.name} writes no debug log.`, {
      hint: "Start it with --debug (teams spawn, teams run), or with TEAMS_DEBUG=1 in its environment.",
    });
  }
  const feed = openLineFeed(file, (text) => [text], olderLog(file));
  const print = (text: string): void => out.item({ line: text }, () => stripControls(text));
  return shown(file, feed, print, (lines) => {
    out.answer({ lines }, () => stripControls(lines.join("\n")));
  });
}

type OpenMember = OpenTeam & { readonly member: { readonly name: string } };

function shown<T>(
  file: string,
  feed: LineFeed<T>,
  print: (line: T) => void,
  printAll: (lines: readonly T[]) => void,
): Shown {
  return {
    file,
    showAll: () => printAll(feed.poll()),
    showNew: () => {
      for (const line of feed.poll()) print(line);
    },
  };
}

function noConversation({ ref }: OpenTeam, name: string): TeamError {
  return new TeamError(
    "RECIPIENT_INACTIVE",
    `${name} has no conversation here: no agent of ours runs as it.`,
    {
      hint: `Its messages: teams inbox ${operand(name)} --all   who is there: teams status ${optionWords("--team", ref.team)}`,
    },
  );
}
