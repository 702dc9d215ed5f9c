import { join, sep } from "node:path";
import { LEAD_NAME, type TeamDir } from "../schema/names.ts";
import { textStart } from "../text/characters/cut-text.ts";
import { sha256 } from "./sha256.ts";

/** Maximum bytes of an encoded file name: 255, less room for the longest suffix (`.json.lock`, …). */
const MAX_ENCODED = 200;

/**
 * Returns an agent's name as one path component: unchanged if it is plain, else percent-encoded UTF-8, with a hash at
 * the end if it is long. Never `.`, `..` or a name with a slash (protocol.md section 1).
 */
export function agentFileName(name: string): string {
  if (/^[A-Za-z0-9_-]{1,64}$/.test(name)) return name;
  // Possible in another program's config. Must not be the parent directory, and no other name encodes to this.
  if (name === "") return "%";
  const encoded = [...Buffer.from(name, "utf8")]
    .map((byte) => {
      const char = String.fromCharCode(byte);
      return /[A-Za-z0-9_-]/.test(char) ? char : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
    })
    .join("");
  if (encoded.length <= MAX_ENCODED) return encoded;
  const hash = sha256(name).slice(0, 16);
  return `${textStart(encoded, MAX_ENCODED - 17)}-${hash}`;
}

/** Maximum number of agents whose paths are cached: more than a team has. */
const MAX_AGENTS = 1_000;

/** All paths of one team (protocol.md section 1). Pure: the file system is not read. */
export interface TeamPaths {
  readonly dir: string;
  readonly config: string;
  /** *Ours*: a copy of the config that a process of teams wrote last. */
  readonly lastConfig: string;
  readonly inboxes: string;
  readonly journal: string;
  /** *Ours*: the ids of all delivered messages about events. */
  readonly eventIds: string;
  readonly events: string;
  readonly requests: string;
  /** *Ours*: the ids of answered requests. */
  readonly answered: string;
  readonly tasks: string;
  readonly taskLock: string;
  readonly highWaterMark: string;
  /** *Ours*: the id below which no task is open; claims start there. */
  readonly claimCursor: string;
  /** *Ours*: the process that copies the tasks of a team which gets this name. */
  readonly taskCopy: string;
  /** *Ours*: the change of links that is in progress. */
  readonly linkChange: string;
  /** *Ours*: the verify commands of tasks that a person confirmed, with their runs. */
  readonly verifies: string;
  /** FIFOs and the status line, outside the root: `<runtime>/<hash of the root>/<team>`. */
  readonly runtime: string;
  /** The line that a status bar shows. No agent's directory has this name: encoded names have no dot. */
  readonly statusLine: string;
  task(id: string): string;
  verify(id: string): string;
  inbox(agent: string): string;
  agent(agent: string): AgentPaths;
  request(id: string): { readonly request: string; readonly answer: string };
}

export interface AgentPaths {
  /** `run/<agent>` in the team's directory. */
  readonly run: string;
  readonly status: string;
  readonly place: string;
  readonly exit: string;
  /** The exit record of the previous program, if it was restarted in its pane. */
  readonly crash: string;
  /** The proven process of a foreign member. */
  readonly foreign: string;
  /** The last report of a hook of a member's CLI. */
  readonly hook: string;
  /** The last texts of its newest turns, by its hooks. */
  readonly lastWords: string;
  /** The background tasks of its process. */
  readonly background: string;
  /** The files that it edited last. */
  readonly edits: string;
  /** Reports of the agent that could not be delivered yet. */
  readonly unsent: string;
  /** Directory of the messages that tool calls returned and whose receipt is not proven yet: a list for each MCP server. */
  readonly handedOut: string;
  /** The secret of its MCP server over HTTP. */
  readonly mcpToken: string;
  readonly launchScript: string;
  /** Created to ask an agent that runs in another's process to end. */
  readonly endWanted: string;
  readonly log: string;
  /** `<runtime>/…/<agent>`: the directory of its FIFOs. */
  readonly runtime: string;
  readonly bell: string;
  /** Lock for typing into its pane. */
  readonly typing: string;
  /** The FIFO into which a recorder copies the output of its pane. */
  readonly outputCopy: string;
  readonly lifeline: string;
  /** The FIFO that reports readiness, or an early death, to the process that spawned the agent. */
  readonly ready: string;
}

/** @param runtime the runtime directory of this root, from {@link runtimeOfRoot} */
export function teamPaths(root: string, runtime: string, team: TeamDir): TeamPaths {
  const dir = join(root, "teams", team);
  const tasks = join(root, "tasks", team);
  const runtimeDir = join(runtime, team);
  const agents = new Map<string, AgentPaths>();
  return {
    dir,
    config: join(dir, "config.json"),
    lastConfig: join(dir, "config.json.last"),
    inboxes: join(dir, "inboxes"),
    journal: join(dir, "journal.jsonl"),
    eventIds: join(dir, "journal.ids"),
    events: join(dir, "events.jsonl"),
    answered: join(dir, "answered.jsonl"),
    requests: join(dir, "requests"),
    tasks,
    taskLock: join(tasks, ".lock"),
    highWaterMark: join(tasks, ".highwatermark"),
    claimCursor: join(tasks, ".open-from"),
    taskCopy: join(tasks, ".copy-by"),
    linkChange: join(tasks, ".link-change"),
    verifies: join(dir, "verify"),
    runtime: runtimeDir,
    statusLine: join(runtimeDir, ".status-line"),
    // Not joined: a list has thousands of tasks, and normalising the path takes as long as parsing the file.
    task: (id) => `${tasks}${sep}${taskFileStem(id)}.json`,
    verify: (id) => join(dir, "verify", `${taskFileStem(id)}.json`),
    inbox: (agent) => join(dir, "inboxes", `${agentFileName(agent)}.json`),
    // Cached: a process that watches a team asks for them a thousand times a second.
    agent: (agent) => {
      const known = agents.get(agent);
      if (known !== undefined) return known;
      if (agents.size >= MAX_AGENTS) agents.clear();
      const paths = agentPaths(
        join(dir, "run", agentFileName(agent)),
        join(runtimeDir, agentFileName(agent)),
      );
      agents.set(agent, paths);
      return paths;
    },
    request: (id) => {
      const stem = join(dir, "requests", agentFileName(id));
      return { request: `${stem}.json`, answer: `${stem}.answer` };
    },
  };
}

function agentPaths(run: string, runtime: string): AgentPaths {
  return {
    run,
    status: join(run, "status.json"),
    place: join(run, "place.json"),
    exit: join(run, "exit.json"),
    crash: join(run, "crash.json"),
    foreign: join(run, "foreign.json"),
    hook: join(run, "hook.json"),
    lastWords: join(run, "last-words.json"),
    background: join(run, "background.json"),
    edits: join(run, "edits.json"),
    unsent: join(run, "unsent.json"),
    handedOut: join(run, "handed-out"),
    mcpToken: join(run, "mcp-token"),
    launchScript: join(run, "launch.sh"),
    endWanted: join(run, "end-wanted"),
    log: join(run, "output.log"),
    runtime,
    bell: join(runtime, "bell"),
    typing: join(runtime, "typing"),
    outputCopy: join(runtime, "copy"),
    lifeline: join(runtime, "life"),
    ready: join(runtime, "ready"),
  };
}

/** Returns the path of a record of an agent's earlier start; the next start renames the record to it. */
export function recordOfEarlierStart(record: string): string {
  return `${record}.last`;
}

/** Maps an invalid id to a name that no task has, so it cannot form a path. */
function taskFileStem(id: string): string {
  return /^[1-9][0-9]{0,14}$/.test(id) ? id : "0";
}

/** Returns the directory of all conversations. */
export function sessionsDirectory(root: string): string {
  return join(root, "teams-sessions");
}

/** Returns the path of a session's conversation. */
export function transcriptPath(root: string, sessionId: string): string {
  return join(sessionsDirectory(root), `${sessionId}.jsonl`);
}

/** Returns the directory of the variables that a session's hooks set. */
export function sessionEnvPath(root: string, sessionId: string): string {
  return join(root, "session-env", sessionId);
}

/** Matches the names of our files in that directory, one for each hook. Other programs may have files there, too. */
export const SESSION_ENV_FILE = /^hook-[0-9a-f]{12}\.sh$/;

/** Returns the path of a session's debug log. */
export function debugPath(root: string, sessionId: string): string {
  return join(root, "debug", `${sessionId}.txt`);
}

/** Returns the path of a member's plan file. It is unique, since a team's directory name has no `_`. */
export function planPath(root: string, team: TeamDir, agent: string): string {
  const stem = agent === LEAD_NAME ? team : `${team}_${agentFileName(agent)}`;
  return join(root, "plans", `${stem}.md`);
}

/** Returns `<runtime>/<hash of the real root>`, so two roots never share a bell. */
export function runtimeOfRoot(runtime: string, realRoot: string): string {
  return join(runtime, rootTag(realRoot));
}

/** Distinguishes roots that hold teams of the same name: in runtime paths, and on panes of one tmux server. */
export function rootTag(realRoot: string): string {
  return sha256(realRoot).slice(0, 12);
}
