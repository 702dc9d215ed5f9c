import { dirname } from "node:path";
import * as z from "zod/mini";
import { transcriptLine } from "../../agent/conversation/transcript.ts";
import { EXIT, TeamError } from "../../errors.ts";
import { follow } from "../../operations/follow-team.ts";
import { entryOf } from "../../os/files/fs.ts";
import { startOfLastLines } from "../../os/files/lines.ts";
import { debugPath } from "../../protocol/paths.ts";
import { type OpenTeam, openAddress } from "../../runtime/select-team.ts";
import type { StatusRecord } from "../../schema/status.ts";
import { parseJsonLine, readTextLines } from "../../store/jsonl.ts";
import { openLineFeed } from "../../store/tail.ts";
import { memberWord } from "../../team/address-words.ts";
import { assertTeam } from "../../team/config/team-lock.ts";
import { conversationPath } from "../../team/records/conversation-path.ts";
import { readStatus } from "../../team/records/read-records.ts";
import { type Home, teamsHome } from "../../team/ref.ts";
import { rotatedPath } from "../../telemetry/event-log.ts";
import type { AnyCall } from "../../terminal/call.ts";
import { conversationLog } from "../../terminal/conversation-log.ts";
import { wantsColors } from "../../terminal/output.ts";
import { createPaneView } from "../../terminal/pane/pane-view.ts";
import { terminalAbilities } from "../../terminal/terminal-abilities.ts";
import { operand, optionWords } from "../../text/shell-quote.ts";
import { printableJson, stripControls } from "../../text/terminal-text.ts";
import { defineCommand, usageError } from "../command.ts";
import { countOption } from "../option-values.ts";

/** How many entries are printed by default. */
const LAST = 200;

export const command = defineCommand({
  name: "logs",
  summary: "Print an agent's conversation: its input, answers, tool calls and results",
  args: [{ name: "agent", summary: "the member: name or name@team", optional: true }],
  options: {
    session: {
      value: "id",
      summary:
        "instead of a member: a conversation, even of a deleted team (teams ls --ended); the first characters of its id are enough",
    },
    last: { short: "n", value: "entries", summary: `how many entries, from the end (default: ${LAST})` },
    all: { summary: "print every entry" },
    before: { value: "offset", summary: "print older entries, before the offset that a page ends with" },
    follow: { short: "f", summary: "keep printing new entries" },
    raw: { summary: "print the lines of the conversation's file, as JSON" },
    debug: { summary: "print its debug log instead: its decisions and their reasons" },
  },
  examples: ["teams logs reviewer -f", "teams logs team-lead --debug", "teams logs --session 3f2a91c0"],
  notes:
    "For a member of another program, and for claude, it prints the rows that the pane still has. An agent writes a debug log if it was started with --debug (run, spawn) or with TEAMS_DEBUG=1 in its environment.",
  async run(call) {
    const { args, options, io } = call;
    const excluded = EXCLUSIVE.find((pair) => pair.every((key) => isGiven(options[key])));
    if (excluded) throw usageError(command, `accepts --${excluded[0]} or --${excluded[1]}, not both.`);
    const page: Page = {
      last: options.all ? Number.POSITIVE_INFINITY : (countOption(options.last, "-n") ?? LAST),
      // A byte offset: conversations grow beyond 10 MB.
      before: countOption(options.before, "--before", Number.MAX_SAFE_INTEGER),
    };
    if (options.session !== undefined) {
      if (args.agent !== undefined) throw usageError(command, "accepts an agent or --session, not both.");
      const { findSession } = await import("../find-session.ts");
      const found = findSession(teamsHome(io.env), options.session);
      const log = options.debug
        ? debugLog(call, teamsHome(io.env), found.sessionId, found.sessionId, page)
        : conversation(call, { ...found, cwd: undefined }, page, options.raw);
      printPage(call, log, page, `--session ${found.sessionId}`);
      return EXIT.done;
    }
    if (args.agent === undefined) throw usageError(command, "needs an agent, or --session.");
    const open = openAddress(io.env, options, args.agent);
    const { name } = open.member;
    const status = readStatus(open.ref, name);
    if (status === undefined || (status.ownInbox === true && !options.debug)) {
      const { printScreenLog } = await import("../screen-log.ts");
      const refused = options.raw || options.debug || options.before !== undefined;
      const shown = await printScreenLog(call, open, name, {
        rows: page.last,
        follow: options.follow,
        refused,
      });
      if (shown === undefined) throw noConversationError(open, name);
      return shown;
    }
    const transcript = conversationPath(open.ref, status);
    const log = options.debug
      ? debugLog(call, open.home, name, status.sessionId, page)
      : conversation(call, { transcript, cwd: open.member.cwd }, page, options.raw);
    if (options.follow) {
      const printNew = (): boolean => {
        log.showNew();
        assertTeam(open.ref);
        return false;
      };
      await follow(open.ref, printNew, { signal: io.interruption(), alsoWatch: [dirname(log.file)] });
      return EXIT.interrupted;
    }
    printPage(call, log, page, `${operand(name)} ${optionWords("--team", open.ref.team)}`);
    return EXIT.done;
  },
});

interface PageOptions {
  readonly debug: boolean;
  readonly raw: boolean;
  readonly last: string | undefined;
}

/** @param address the words that name the log */
function printPage(
  { options, out }: Pick<AnyCall, "out"> & { readonly options: PageOptions },
  log: LogView,
  page: Page,
  address: string,
): void {
  log.showPage();
  if (log.start === 0) return;
  const form = options.debug ? " --all --debug" : `${options.raw ? " --raw" : ""} --before ${log.start}`;
  const count = options.last === undefined || options.debug ? "" : ` -n ${page.last}`;
  out.note(`Older entries: teams logs ${address}${count}${form}`);
}

const EXCLUSIVE = [
  ["session", "follow"],
  ["raw", "debug"],
  ["all", "last"],
  ["before", "follow"],
  ["before", "debug"],
] as const;

function isGiven(value: string | boolean | undefined): boolean {
  return value !== undefined && value !== false;
}

/** The part of a log to print. */
interface Page {
  /** Number of entries. */
  readonly last: number;
  /** Byte offset in the conversation's file after the last entry. */
  readonly before: number | undefined;
}

interface LogView {
  readonly file: string;
  /** Where the page starts: a byte offset, or a number of lines in a debug log; 0 if nothing is older. */
  readonly start: number;
  /** Prints the page. */
  showPage(): void;
  /** Prints the page at the first call, and later the entries since the last call, one by one. */
  showNew(): void;
}

/** The file of a member's conversation, and its working directory, if known. */
type Conversation = Pick<StatusRecord, "transcript"> & { readonly cwd: string | undefined };

function conversation(call: AnyCall, { transcript, cwd }: Conversation, page: Page, raw: boolean): LogView {
  const { io, out } = call;
  const start =
    page.last === Number.POSITIVE_INFINITY ? 0 : startOfLastLines(transcript, page.last, page.before);
  const pageOf = <T>(parse: (text: string) => readonly T[]): T[] =>
    readTextLines(transcript, start, page.before).texts.flatMap(parse);
  const place = { file: transcript, start };
  if (raw || out.json) {
    const parse = parseJsonLine(z.looseObject({}));
    const feed = openLineFeed(transcript, parse, { from: start });
    const print = (entry: object): void => out.item(entry, () => printableJson(entry));
    return {
      ...place,
      showPage: () => {
        if (raw) for (const entry of pageOf(parse)) print(entry);
        else out.answer({ entries: pageOf(parse), before: start > 0 ? start : null }, () => "");
      },
      showNew: () => feed.poll().forEach(print),
    };
  }
  const view = createPaneView({
    write: io.out,
    name: "",
    cwd,
    width: () => io.columns ?? Number.POSITIVE_INFINITY,
    plain: !wantsColors(io.env, io.terminal.stdout),
    whole: true,
    markdown: io.terminal.stdout,
    abilities: terminalAbilities(io.env),
  });
  const show = conversationLog(view);
  const parse = parseJsonLine(transcriptLine);
  const feed = openLineFeed(transcript, parse, { from: start });
  return {
    ...place,
    showPage: () => {
      show(pageOf(parse));
      view.end();
    },
    showNew: () => show(feed.poll()),
  };
}

/** @throws TeamError INVALID_INPUT if the agent writes no debug log */
function debugLog({ out }: AnyCall, home: Home, name: string, sessionId: string, page: Page): LogView {
  const file = debugPath(home.root, sessionId);
  const older = rotatedPath(file);
  // Right after a rotation there is only the older file.
  if (entryOf(file) === undefined && entryOf(older) === undefined) {
    throw new TeamError("INVALID_INPUT", `${name} writes no debug log.`, {
      hint: "Start it with --debug (teams spawn, teams run) or with TEAMS_DEBUG=1 in its environment.",
    });
  }
  const feed = openLineFeed(file, (text) => [text], { older });
  const all = feed.poll();
  const start = Math.max(0, all.length - page.last);
  let shown = false;
  const print = (text: string): void => out.item({ line: text }, () => stripControls(text));
  return {
    file,
    start,
    showPage: () => {
      const lines = all.slice(start);
      out.answer({ lines }, () => stripControls(lines.join("\n")));
    },
    showNew: () => {
      for (const text of shown ? feed.poll() : all.slice(start)) print(text);
      shown = true;
    },
  };
}

function noConversationError({ ref }: OpenTeam, name: string): TeamError {
  return new TeamError(
    "RECIPIENT_INACTIVE",
    `${name} has no conversation: teams has not started an agent with this name.`,
    {
      hint: `See its messages: teams inbox ${memberWord(ref, name)} --all   or the members: teams status ${optionWords("--team", ref.team)}`,
    },
  );
}
