import { programName } from "../../adapter/keys/program-words.ts";
import { type FoundShell, shellIn } from "../../adapter/keys/shell-check.ts";
import { TAG } from "../../backend/tmux/pane-tags.ts";
import { TeamError } from "../../errors.ts";
import { identityOf, startTimeOf } from "../../os/process/identity.ts";
import { ownPid, type ProcessRow, processTable } from "../../os/process/process-table.ts";
import { inspectProcesses, type StartedWith } from "../../os/process/started-with.ts";
import type { AdoptedProgram } from "../../schema/member-metadata.ts";
import type { TmuxCommand } from "../../tmux/command.ts";
import { listPanes, type TmuxPane } from "../../tmux/list-panes.ts";
import { isNoServer, type TmuxServer } from "../../tmux/server.ts";

/** The foreground program of a pane. */
export interface PaneProgram extends AdoptedProgram {
  readonly startedWith: StartedWith;
  /** The directory of the pane. */
  readonly cwd: string;
  readonly table: readonly ProcessRow[];
}

const VARIABLES = ["pane_tty", "pane_current_path", "socket_path", TAG.sidebar];

/**
 * Finds the foreground program of a pane, and identifies its process.
 * @param target a target of tmux: `%5`, `session:window.pane`
 * @param isWanted receives the pid of the program; returns false if that program did not start this command
 * @throws TeamError INVALID_INPUT without such a pane, or for a pane of teams, a shell, or a program that cannot be identified
 */
export async function programInPane(
  server: TmuxServer,
  target: string,
  isWanted: (pid: number) => boolean = () => true,
): Promise<PaneProgram> {
  const { panes, serverPid } = await listPanes(server, [TAG.agent, ...VARIABLES]);
  const id = panes.some((one) => one.id === target) ? target : await resolveTarget(server, target);
  const pane = panes.find((one) => one.id === id);
  if (pane === undefined || serverPid === undefined)
    throw adoptionRefused(`There is no pane ${JSON.stringify(target)} on this tmux server`, LIST_PANES);
  if (pane.options[TAG.agent] !== "" || pane.options[TAG.sidebar] !== "")
    throw adoptionRefused(`Pane ${pane.id} belongs to teams`, LIST_PANES);
  if (pane.dead) throw adoptionRefused(`The program of pane ${pane.id} has ended`, LIST_PANES);
  const table = processTable();
  const foreground = foregroundProcess(pane, table);
  if (foreground === undefined)
    throw adoptionRefused(
      `teams cannot tell which program is in the foreground of pane ${pane.id}`,
      "Wait until one program is in the foreground, then adopt the pane again.",
    );
  if (!isWanted(foreground.pid)) {
    // A command that a shell started is itself in the foreground.
    const isOwn = table.some((row) => row.pid === ownPid && row.pgid === foreground.pgid);
    throw isOwn ? bareShell(pane.id) : notStarter(pane.id);
  }
  return describe(pane, serverPid, foreground, table);
}

function describe(
  pane: TmuxPane,
  serverPid: number,
  { pid }: ProcessRow,
  table: readonly ProcessRow[],
): PaneProgram {
  const process = identityOf(pid);
  const startedWith = inspectProcesses()(pid);
  if (process === undefined)
    throw adoptionRefused(`The program of pane ${pane.id} has just ended`, LIST_PANES);
  if (startedWith === undefined)
    throw adoptionRefused(
      `The program of pane ${pane.id} (process ${pid}) belongs to another user`,
      LIST_PANES,
    );
  const shell = shellIn(pid, table);
  if (shell !== undefined) throw shell.pid === pid ? bareShell(pane.id) : shellBelow(pane.id, shell);
  const agent = startedWith.env("TEAMS_AGENT");
  if (agent !== undefined && agent !== "")
    throw adoptionRefused(`The program of pane ${pane.id} belongs to the agent ${agent}`, LIST_PANES);
  const { options } = pane;
  return {
    process,
    program: programName(startedWith.words),
    tty: options.pane_tty ?? "",
    pane: {
      paneId: pane.id,
      server: { socket: options.socket_path ?? "", pid: serverPid, procStart: startTimeOf(serverPid) ?? "" },
      panePid: pane.pid,
      paneProcStart: startTimeOf(pane.pid) ?? "",
    },
    startedWith,
    cwd: options.pane_current_path ?? "",
    table,
  };
}

/** Returns the id of the pane that tmux finds for a target; undefined if there is none. */
async function resolveTarget(server: TmuxServer, target: string): Promise<string | undefined> {
  const prefix = "pane ";
  // The first command fails without a pane, and ends the chain: display-message would take the current one.
  const chain: TmuxCommand[] = [
    ["show-options", "-p", "-t", target],
    ["display-message", "-p", "-t", target, `${prefix}#{pane_id}`],
  ];
  try {
    const { lines } = await server.batch([{ chain }]);
    return lines.find((one) => one.startsWith(prefix))?.slice(prefix.length);
  } catch (error) {
    if (isNoServer(error)) return undefined;
    throw error;
  }
}

/** Returns the leader of the foreground process group of a pane; undefined if unknown. */
export function foregroundProcess(
  pane: Pick<TmuxPane, "pid">,
  table: readonly ProcessRow[],
): ProcessRow | undefined {
  const own = table.find(({ pid }) => pid === pane.pid);
  if (own === undefined) return undefined;
  // Processes of one terminal belong to one session; macOS shows only the terminal.
  const isOnTerminal = (row: ProcessRow): boolean =>
    own.tty === undefined ? row.sid === own.sid : row.tty === own.tty;
  return table.find((row) => row.foreground === true && row.pid === row.pgid && isOnTerminal(row));
}

export const LIST_PANES = "List the panes: tmux list-panes -a";

/** The error for a pane that only shows a shell. */
function bareShell(pane: string): TeamError {
  return adoptionRefused(
    `Pane ${pane} shows a shell, which would run each message as a command`,
    "Start the program in that pane first. Or start it as a member in a new pane: teams spawn <name> --cli <cli> --here",
  );
}

/** The error for a command that names a pane by its variables, but was started elsewhere. */
function notStarter(pane: string): TeamError {
  return adoptionRefused(
    `The program in the foreground of pane ${pane} did not start this command`,
    `Run teams join from that program, or adopt it from a shell: teams adopt ${pane}`,
  );
}

function shellBelow(pane: string, { name, pid }: FoundShell): TeamError {
  return adoptionRefused(
    `The program of pane ${pane} passes its keys to a shell (${name}, process ${pid}), which would run each message as a command`,
    "End that shell, or start another program in it, and adopt the pane again.",
  );
}

export function adoptionRefused(what: string, hint: string): TeamError {
  return new TeamError("INVALID_INPUT", `${what}; nothing was adopted.`, { hint });
}
