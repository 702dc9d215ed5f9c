import * as z from "zod/mini";
import { processIdentity } from "./process-identity.ts";
import { NO_TOKENS } from "./tokens.ts";

/** States that an agent reports (product.md); other processes determine `crashed`, `exited` and `unknown`. */
export const AGENT_STATES = [
  "starting",
  "running",
  "idle",
  "awaiting-approval",
  "needs-input",
  "throttled",
  "paused",
  "stopping",
  "exited",
  "crashed",
  "unknown",
] as const;
const agentState = z.enum(AGENT_STATES);
export type AgentState = z.infer<typeof agentState>;

export const tokenCount = z.object({
  input: z._default(z.number(), 0),
  output: z._default(z.number(), 0),
  cacheRead: z._default(z.number(), 0),
  cacheWrite: z._default(z.number(), 0),
});
/** The tmux server of a pane: its socket and its process. */
const tmuxServerRecord = z.object({ socket: z.string(), pid: z.number(), procStart: z.string() });

/**
 * `run/<agent>/place.json`: where an agent runs. Written when it is spawned and when its pane is hidden, by other
 * processes; so it is separate from `status.json`, which only the agent writes.
 */
export const placeRecord = z.looseObject({
  /** The uuid of this instance: the tag `@teams_agent` of its pane, and an argument of the launch script. */
  instance: z.string(),
  backend: z.string(),
  paneId: z.optional(z.string()),
  windowId: z.optional(z.string()),
  session: z.optional(z.string()),
  /** The session is one of the team's, which ends with its last pane. */
  inTeamSession: z.optional(z.boolean()),
  /** The requested placement of its pane: `team-window`, `window`, `here` or `session`. */
  placement: z.optional(z.string()),
  /** The window of the user that contains its pane, and its layout before the team's panes. */
  beside: z.optional(z.object({ window: z.string(), layout: z.string() })),
  server: z.optional(tmuxServerRecord),
  /** The outer launch script: the pane's own process. */
  panePid: z.optional(z.number()),
  paneProcStart: z.optional(z.string()),
  /** The pid space and boot in which the pids of this record are valid, as in a process identity. */
  pidSpace: z.optional(z.string()),
  bootId: z.optional(z.string()),
  /** The output log of a process without a pane. */
  logFile: z.optional(z.string()),
  /** For an agent in another's process: that process, the file that requests its end, and the file that records its end. */
  within: z.optional(z.object({ process: processIdentity, endWanted: z.string(), endRecord: z.string() })),
  spawnedAt: z.number(),
});
export type PlaceRecord = z.infer<typeof placeRecord>;

/** A tmux client that waits on a channel for the end of a server. If its lead is dead, any process ends it through that channel. */
const serverWatchRecord = z.object({
  channel: z.string(),
  server: tmuxServerRecord,
  client: processIdentity,
});
export type ServerWatchRecord = z.infer<typeof serverWatchRecord>;

/** `run/<agent>/status.json`: the state that an agent's process reports (protocol.md section 1). */
export const statusRecord = z.looseObject({
  sessionId: z.string(),
  transcript: z.string(),
  process: processIdentity,
  /** It runs in another agent's process; it has ended if it has an exit record, or if that process has ended. */
  shared: z.optional(z.boolean()),
  instance: z.optional(z.string()),
  /** The previous process of this instance, if a person restarted it in its pane. */
  before: z.optional(processIdentity),
  panePid: z.optional(z.number()),
  paneProcStart: z.optional(z.string()),
  paneId: z.optional(z.string()),
  server: z.optional(tmuxServerRecord),
  bell: z.optional(z.string()),
  lifeline: z.optional(z.string()),
  /** Lead: the clients that report the end of its teammates' tmux servers. */
  serverWatches: z.optional(z.array(serverWatchRecord)),
  state: agentState,
  /** It approved a shutdown, so its end is no crash; the first process that notices the end completes the shutdown. */
  agreedToStop: z.optional(z.boolean()),
  /** The lead asked it to shut down, and it has neither agreed nor refused yet. */
  shutdownRequested: z.optional(z.boolean()),
  /** It is not in a turn, even if a background agent of it waits for an answer. */
  resting: z.optional(z.boolean()),
  /** Number of its background commands when its last turn ended; the end of each starts a turn. */
  background: z.optional(z.number()),
  activity: z._default(z.string(), ""),
  taskIds: z._default(z.array(z.string()), []),
  /** Number of messages that the running turn started with. */
  inTurn: z.optional(z.number()),
  /** Its last turn was interrupted, and none has started since. */
  interrupted: z.optional(z.boolean()),
  tokens: z._default(tokenCount, NO_TOKENS),
  costUsd: z._default(z.number(), 0),
  since: z.number(),
  startedAt: z.number(),
  lastActivityAt: z.number(),
});
export type StatusRecord = z.infer<typeof statusRecord>;

/**
 * `run/<agent>/exit.json`, written by the launch script when the agent's program ends; renamed to `crash.json` if it is
 * restarted in its pane. A `code` above 128 means a signal, as in a shell; `signal` is its name.
 */
export const exitRecord = z.looseObject({
  instance: z.string(),
  code: z.int(),
  signal: z.optional(z.string().check(z.regex(/^SIG[A-Z0-9]+$/))),
  at: z.number(),
  lastLines: z._default(z.array(z.string()), []),
});
export type ExitRecord = z.infer<typeof exitRecord>;

/** A command or subagent that works in the background of an agent. */
const backgroundTask = z.object({
  id: z.string(),
  kind: z.enum(["bash", "agent"]),
  /** The command, or the purpose of a subagent; redacted. */
  what: z.string(),
  status: z.enum(["running", "completed", "failed", "killed"]),
  /** How it ended; empty while it runs. */
  how: z.string(),
  outputFile: z.string(),
  /** Milliseconds since the epoch. */
  startedAt: z.number(),
  endedAt: z.optional(z.number()),
});
export type BackgroundTask = z.infer<typeof backgroundTask>;

/** `run/<agent>/background.json`: the background tasks of an agent's process, oldest first. Only the agent writes it. */
export const backgroundRecord = z.object({
  process: processIdentity,
  tasks: z.array(backgroundTask),
});
export type BackgroundRecord = z.infer<typeof backgroundRecord>;
