import { TAG } from "../backend/tmux/pane-tags.ts";
import { messageOf } from "../errors.ts";
import { systemClock } from "../os/clock.ts";
import type { Env } from "../os/env.ts";
import { removeFile } from "../os/files/fs.ts";
import { newUuid } from "../os/process/identity.ts";
import type { AgentPaths, TeamPaths } from "../protocol/paths.ts";
import { shellQuote } from "../text/shell-quote.ts";
import { tmuxCaller } from "../tmux/caller.ts";
import { allOf, equals, escapeFormat, ifElse, type TmuxCommand } from "../tmux/command.ts";
import { paneId } from "../tmux/ids.ts";
import type { TmuxServer } from "../tmux/server.ts";
import { createCast } from "./cast-files.ts";
import { endSequence } from "./end-sequence.ts";
import type { Recording } from "./recording.ts";

const OPENED = "OPENED";
const OTHER_PIPE = "its pane is already piped to another program (pipe-pane)";

interface RecordingOptions {
  readonly directory: string;
  readonly agent: string;
  /** `name@team`. */
  readonly title: string;
  readonly env: Env;
  /** Program and leading arguments that start this program again. */
  readonly program: readonly string[];
  /** The caller's server. */
  readonly server: TmuxServer;
  readonly paths: {
    readonly team: Pick<TeamPaths, "journal">;
    readonly agent: Pick<AgentPaths, "status" | "outputCopy">;
  };
  /** The agent also reads the output of its pane: the recorder passes it on, since a pane has only one pipe. */
  readonly copies?: boolean;
  /** The device of this process's terminal, if the pane is the user's: the pane must then be on this terminal. */
  readonly ownTerminal?: string | undefined;
}

export type OpenedRecording =
  | {
      readonly kind: "open";
      readonly path: string;
      /** The sequence that an agent in a user's pane prints last; empty in other panes. */
      readonly last: string;
    }
  /** A recorder of an earlier start in this pane still runs. */
  | { readonly kind: "running" }
  | { readonly kind: "refused"; readonly why: string };

/**
 * Records the pane of this process, by `pipe-pane` into a separate process that outlives this one. tmux passes on every byte and
 * waits for no reader: a recorder that hangs or dies does not affect the pane. A pane has one pipe; a user's pipe is left alone.
 * @throws TeamError PERMISSION_DENIED, TMUX_ERROR; a system error if the file cannot be created
 */
export async function openRecording(options: RecordingOptions): Promise<OpenedRecording> {
  const { env, server, directory, agent, title, ownTerminal } = options;
  const caller = tmuxCaller(env);
  const pane = paneId(caller?.pane);
  if (caller === undefined || pane === undefined) return refused("it has no tmux pane");
  const isPane = allOf(equals("pane_id", pane), equals("pid", String(caller.serverPid)));
  const { lines } = await server.batch([ifElse(pane, isPane, [print(pane, FACTS)], [print(pane, "gone")])]);
  const facts = parseFacts(lines[0] ?? "");
  if (facts === undefined) return refused("its tmux pane is gone");
  // A program in a terminal that was started from a pane inherits the variables of that pane.
  if (ownTerminal !== undefined && facts.tty !== ownTerminal)
    return refused("its terminal is not a tmux pane");
  if (facts.isPiped)
    return facts.isOurs && ownTerminal === undefined ? { kind: "running" } : refused(OTHER_PIPE);
  const startedAt = systemClock.now();
  const path = createCast(directory, agent, {
    version: 2,
    width: facts.columns,
    height: facts.rows,
    timestamp: Math.floor(startedAt / 1000),
    title,
    env: { TERM: env.TERM ?? "", ...(env.SHELL ? { SHELL: env.SHELL } : {}) },
  });
  const word = newUuid();
  const recording: Recording = {
    path,
    startedAt,
    pane,
    socket: caller.socket.path,
    tty: facts.tty,
    size: `${facts.columns}x${facts.rows}`,
    agent,
    journal: options.paths.team.journal,
    status: options.paths.agent.status,
    ...(options.copies ? { copy: options.paths.agent.outputCopy } : {}),
    ...(ownTerminal === undefined ? {} : { owner: { pid: process.pid, word } }),
  };
  const words = [...options.program, "record-pane", JSON.stringify(recording)];
  const command = `exec ${words.map(shellQuote).join(" ")}`;
  try {
    const opened = await server.batch([
      ifElse(
        pane,
        allOf(isPane, "#{==:#{pane_pipe},0}"),
        [
          ["pipe-pane", "-O", "-t", pane, escapeFormat(command).replaceAll("%", "%%")],
          ["set-option", "-p", "-t", pane, TAG.cast, "1"],
          print(pane, OPENED),
        ],
        [print(pane, "taken")],
      ),
    ]);
    if (opened.lines.includes(OPENED))
      return { kind: "open", path, last: ownTerminal === undefined ? "" : endSequence(word) };
    removeFile(path);
    return refused(OTHER_PIPE);
  } catch (error) {
    removeFile(path);
    return refused(messageOf(error));
  }
}

function refused(why: string): OpenedRecording {
  return { kind: "refused", why };
}

function print(pane: string, text: string): TmuxCommand {
  return ["display-message", "-p", "-t", pane, text];
}

/** The path of the device comes last and contains no space. */
const FACTS = `#{pane_width} #{pane_height} #{pane_pipe} #{?#{${TAG.cast}},1,0} #{pane_tty}`;

interface PaneFacts {
  readonly columns: number;
  readonly rows: number;
  readonly isPiped: boolean;
  readonly isOurs: boolean;
  readonly tty: string;
}

function parseFacts(text: string): PaneFacts | undefined {
  const [, columns, rows, piped, ours, tty] = /^(\d+) (\d+) ([01]) ([01]) (\/\S+)$/.exec(text) ?? [];
  if (tty === undefined) return undefined;
  return {
    columns: Number(columns),
    rows: Number(rows),
    isPiped: piped === "1",
    isOurs: ours === "1",
    tty,
  };
}
