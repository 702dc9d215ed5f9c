import { isAbsolute } from "node:path";
import { rootDirectory } from "../../os/files/app-directories.ts";
import { realPathOf } from "../../os/files/symlinks.ts";
import { bootId, pidSpace } from "../../os/process/identity.ts";
import { isTmuxServer, type ProcessRow, processTable } from "../../os/process/process-table.ts";
import {
  type Inspect,
  inspectProcesses,
  type StartedWith,
  startMilliseconds,
} from "../../os/process/started-with.ts";
import type { TeamConfig, TeamMember } from "../../schema/config.ts";
import type { ProcessIdentity } from "../../schema/process-identity.ts";

/** A running process that is proven to be a foreign member's own. */
export interface ForeignProcess {
  readonly process: ProcessIdentity;
  /**
   * `words`: its command line names the member. `pane`: it has erased its command line (claude 2.1.34 does), and its environment
   * names the pane that the config records; the pane needs its own proof.
   */
  readonly shownBy: "words" | "pane";
  /** The tmux server and the pane that it was started in, by its environment; undefined outside tmux. */
  readonly startedIn?: { readonly socket: string; readonly serverPid: number; readonly pane: string };
  readonly startedWith: StartedWith;
}

/** All processes at one moment. */
export interface ProcessView {
  readonly table: readonly ProcessRow[];
  readonly inspect: Inspect;
}

/** Reads all processes. Takes milliseconds, so callers read them once for all members. */
export function viewProcesses(): ProcessView {
  return { table: processTable(), inspect: inspectProcesses() };
}

/** Milliseconds before and after its join time in which a member with an erased command line must have started. */
const JOINING_MS = { before: 5_000, after: 120_000 };

/**
 * Finds the running processes of a foreign member. Each is proven: it uses this root or this lead's session, and its command line
 * names the member and the team (`--agent-id`, `--agent-name`, `--team-name`). For a process that has erased its command line, the
 * environment counts instead, see {@link isStartedInPane}.
 * @returns the outermost of nested processes; several if the member was started more than once
 */
export function findForeignProcesses(
  root: string,
  config: TeamConfig,
  member: TeamMember,
  { table, inspect }: ProcessView = viewProcesses(),
): readonly ForeignProcess[] {
  const found = new Map<number, ForeignProcess>();
  for (const row of table) {
    // A tmux server keeps the command line that started it.
    if (isTmuxProcess(row)) continue;
    const startedWith = inspect(row.pid);
    if (startedWith === undefined) continue;
    const shownBy = shownByWords(root, config, member, startedWith)
      ? "words"
      : isStartedInPane(root, member, row, startedWith)
        ? "pane"
        : undefined;
    if (shownBy === undefined) continue;
    const { pid, procStart } = row;
    const process = { pid, procStart, pidSpace: pidSpace(), bootId: bootId() };
    found.set(pid, { process, shownBy, startedWith, ...placeOf(startedWith) });
  }
  const byPid = new Map(table.map((row) => [row.pid, row]));
  return [...found.values()].filter(
    ({ process }) => !ancestors(byPid, process.pid).some((pid) => found.has(pid)),
  );
}

/** True for a tmux server or client. */
function isTmuxProcess(row: ProcessRow): boolean {
  return row.name.startsWith("tmux: ") || isTmuxServer(row);
}

/** Returns the pids of all ancestors of a process in a table, nearest first. */
export function ancestors(byPid: ReadonlyMap<number, ProcessRow>, pid: number): number[] {
  const found: number[] = [];
  for (let next = byPid.get(pid)?.ppid; next && !found.includes(next); next = byPid.get(next)?.ppid)
    found.push(next);
  return found;
}

function shownByWords(
  root: string,
  config: TeamConfig,
  { name, agentId }: TeamMember,
  startedWith: StartedWith,
): boolean {
  const option = (of: string): string | undefined => optionValue(startedWith.words, of);
  if (option("--agent-id") !== (agentId || `${name}@${config.name}`)) return false;
  if (option("--agent-name") !== name || option("--team-name") !== config.name) return false;
  const used = rootOf(startedWith);
  // Another root can have a team of this name. The session of the lead is a uuid.
  if (used === undefined)
    return config.leadSessionId !== "" && option("--parent-session-id") === config.leadSessionId;
  return used === root;
}

function optionValue(words: readonly string[], option: string): string | undefined {
  const at = words.indexOf(option);
  if (at >= 0) return words[at + 1];
  return words.find((word) => word.startsWith(`${option}=`))?.slice(option.length + 1);
}

/** Returns the real path of the root that a peer uses; undefined if its environment is hidden. A peer does not know `$TEAMS_HOME`. */
function rootOf({ env }: StartedWith): string | undefined {
  const [CLAUDE_CONFIG_DIR, HOME] = [env("CLAUDE_CONFIG_DIR"), env("HOME")];
  const given = CLAUDE_CONFIG_DIR || HOME;
  if (!given || !isAbsolute(given)) return undefined;
  return realPathOf(rootDirectory({ CLAUDE_CONFIG_DIR, HOME }));
}

/**
 * True if a process that shows only the title `claude` was started as a teammate (the variables that only a teammate gets), for
 * this root, in the pane that the config records, and when the member joined. A claude that a person starts has no `CLAUDECODE`; a
 * teammate that got the same pane id from a later tmux server was started later.
 */
function isStartedInPane(
  root: string,
  { tmuxPaneId, joinedAt }: TeamMember,
  row: ProcessRow,
  startedWith: StartedWith,
): boolean {
  if (!tmuxPaneId.startsWith("%")) return false;
  const { words, env } = startedWith;
  // On macOS the environment follows the title.
  if (words[0] !== "claude" || words.some((word) => word.startsWith("--"))) return false;
  if (env("TMUX_PANE") !== tmuxPaneId || env("CLAUDECODE") !== "1") return false;
  if (!env("CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS") || rootOf(startedWith) !== root) return false;
  const after = (startMilliseconds(row.procStart) ?? Number.NaN) - joinedAt;
  return after >= -JOINING_MS.before && after <= JOINING_MS.after;
}

/** Reads `$TMUX` (`<socket>,<pid>,<session>`) and `$TMUX_PANE`. */
function placeOf({ env }: StartedWith): Pick<ForeignProcess, "startedIn"> {
  const [, socket, pid] = /^(.+),(\d+),\d+$/.exec(env("TMUX") ?? "") ?? [];
  const pane = env("TMUX_PANE");
  if (socket === undefined || pane === undefined) return {};
  return { startedIn: { socket, serverPid: Number(pid), pane } };
}
