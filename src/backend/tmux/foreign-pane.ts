import { startTimeOf } from "../../os/process/identity.ts";
import type { ProcessRow } from "../../os/process/process-table.ts";
import type { AdoptedProgram } from "../../schema/member-metadata.ts";
import type { ForeignRecord, PlaceRecord } from "../../schema/status.ts";
import { ancestors, type ForeignProcess } from "../../team/members/foreign-process.ts";
import { listPanes, type TmuxPane } from "../../tmux/list-panes.ts";
import type { TmuxServer } from "../../tmux/server.ts";
import { FOREIGN_INSTANCE, TAG } from "./pane-tags.ts";

type ForeignPane = NonNullable<ForeignRecord["pane"]>;

/**
 * Proves the pane of a foreign member's process: the pane in which the process was started still exists on the same server, and its
 * process is the member's or an ancestor of it. Unless the config records this pane, the member must also have the pane's input: a
 * process that another member's commands started also runs in that member's pane.
 * @param recorded the `tmuxPaneId` of the member
 * @returns undefined if there is no proof
 * @throws TmuxError
 */
export async function provenPane(
  at: (socket: string) => TmuxServer,
  { process, startedIn }: Pick<ForeignProcess, "process" | "startedIn">,
  table: readonly ProcessRow[],
  recorded: string,
): Promise<ForeignPane | undefined> {
  if (startedIn === undefined) return undefined;
  const { socket, serverPid, pane: id } = startedIn;
  // Ask only while this server runs: any other server at the socket has other panes.
  const serverStart = startTimeOf(serverPid);
  if (serverStart === undefined) return undefined;
  const seen = await listPanes(at(socket), [TAG.agent]);
  const pane = seen.serverPid === serverPid ? seen.panes.find((one) => one.id === id) : undefined;
  if (pane === undefined || !runsIn(pane, process.pid, table)) return undefined;
  if (id !== recorded && !hasInput(process.pid, table)) return undefined;
  const server = { socket, pid: serverPid, procStart: serverStart };
  return { paneId: id, server, panePid: pane.pid, paneProcStart: startTimeOf(pane.pid) ?? "" };
}

function runsIn(pane: TmuxPane, pid: number, table: readonly ProcessRow[]): boolean {
  if (pane.dead || pane.options[TAG.agent] !== "") return false;
  const byPid = new Map(table.map((row) => [row.pid, row]));
  return [pid, ...ancestors(byPid, pid)].includes(pane.pid);
}

/** True if a process, or a descendant such as an editor that it opened, has the input of its terminal. */
export function hasInput(pid: number, table: readonly ProcessRow[]): boolean {
  const byPid = new Map(table.map((row) => [row.pid, row]));
  return table.some((row) => row.foreground && [row.pid, ...ancestors(byPid, row.pid)].includes(pid));
}

/** Returns the pane of an adopted program in the form that all operations on panes take. */
export function adoptedPlace({ pane, process }: AdoptedProgram): PlaceRecord {
  const { pidSpace, bootId } = process;
  return { instance: FOREIGN_INSTANCE, backend: "tmux", ...pane, pidSpace, bootId, spawnedAt: 0 };
}

/** Returns the pane of a foreign member in the form that all operations on panes take. */
export function foreignPlace({ pane, process, provenAt }: ForeignRecord): PlaceRecord | undefined {
  if (pane === undefined) return undefined;
  const { pidSpace, bootId } = process;
  return { instance: FOREIGN_INSTANCE, backend: "tmux", ...pane, pidSpace, bootId, spawnedAt: provenAt };
}
