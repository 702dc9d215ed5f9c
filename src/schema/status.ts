import * as z from "zod/mini";
import { processIdentity } from "./process-identity.ts";
import { NO_TOKENS } from "./tokens.ts";

/** What an agent says of itself (product.md); `crashed`, `exited` and `unknown` are said of it by others. */
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
/** The tmux server that a pane lives in: its socket, and who that server is. */
const tmuxServerRecord = z.object({ socket: z.string(), pid: z.number(), procStart: z.string() });

/**
 * `run/<agent>/place.json`, written by the one that spawned, and by who hides its pane: where the agent was put. It stands
 * apart from `status.json`, which the agent alone writes.
 */
export const placeRecord = z.looseObject({
  /** The uuid of this very start: `@teams_agent` of its pane, and a word of the launch script's arguments. */
  instance: z.string(),
  backend: z.string(),
  paneId: z.optional(z.string()),
  windowId: z.optional(z.string()),
  session: z.optional(z.string()),
  /** Where its pane was asked to be: `team-window`, `window`, `here` or `session`. */
  placement: z.optional(z.string()),
  /** The window of the user's that it stands in, and how that was laid out before any of the team did. */
  beside: z.optional(z.object({ window: z.string(), layout: z.string() })),
  server: z.optional(tmuxServerRecord),
  /** The outer launch script: the pane's own process. */
  panePid: z.optional(z.number()),
  paneProcStart: z.optional(z.string()),
  /** Where and when the pids of this record mean something, as in a process identity. */
  pidSpace: z.optional(z.string()),
  bootId: z.optional(z.string()),
  /** Where a process without a pane writes what it shows. */
  logFile: z.optional(z.string()),
  /** Of an agent in another's process: that process, the file that asks for its end there, and the one that records it. */
  within: z.optional(z.object({ process: processIdentity, endWanted: z.string(), endRecord: z.string() })),
  spawnedAt: z.number(),
});
export type PlaceRecord = z.infer<typeof placeRecord>;

/**
 * A client of tmux that waits on a channel for the end of a server. Who finds its watcher dead ends it by that channel.
 */
const serverWatchRecord = z.object({
  channel: z.string(),
  server: tmuxServerRecord,
  client: processIdentity,
});
export type ServerWatchRecord = z.infer<typeof serverWatchRecord>;

/** `run/<agent>/status.json`: what an agent's own process says of itself (protocol.md section 1). */
export const statusRecord = z.looseObject({
  sessionId: z.string(),
  transcript: z.string(),
  process: processIdentity,
  /** It lives in another's process: that it has ended is told by its exit record, or by that process's end. */
  shared: z.optional(z.boolean()),
  instance: z.optional(z.string()),
  /** The process of the same start that this one follows: a person started it again in its pane. */
  before: z.optional(processIdentity),
  panePid: z.optional(z.number()),
  paneProcStart: z.optional(z.string()),
  paneId: z.optional(z.string()),
  server: z.optional(tmuxServerRecord),
  bell: z.optional(z.string()),
  lifeline: z.optional(z.string()),
  /** Of a lead: what tells it of the end of the servers that its teammates' panes live in. */
  serverWatches: z.optional(z.array(serverWatchRecord)),
  state: agentState,
  /** It approved a shutdown: its end is no crash, and completes by whoever notices it first. */
  agreedToStop: z.optional(z.boolean()),
  /** It is in no turn, whatever one that works for it behind its turns waits for. */
  resting: z.optional(z.boolean()),
  /** How much it ran in the background when its newest turn ended: the end of each is a turn. */
  background: z.optional(z.number()),
  activity: z._default(z.string(), ""),
  taskIds: z._default(z.array(z.string()), []),
  /** How many messages the turn that runs has begun with. */
  inTurn: z.optional(z.number()),
  /** Its newest turn was ended by somebody, and none has begun since. */
  interrupted: z.optional(z.boolean()),
  tokens: z._default(tokenCount, NO_TOKENS),
  costUsd: z._default(z.number(), 0),
  since: z.number(),
  startedAt: z.number(),
  lastActivityAt: z.number(),
});
export type StatusRecord = z.infer<typeof statusRecord>;

/**
 * `run/<agent>/exit.json`, written by the launch script when the agent's program ended; `crash.json` once that was started
 * again in its pane. `code` above 128 is a shell's word for a signal, and `signal` its name.
 */
export const exitRecord = z.looseObject({
  instance: z.string(),
  code: z.int(),
  signal: z.optional(z.string().check(z.regex(/^SIG[A-Z0-9]+$/))),
  at: z.number(),
  lastLines: z._default(z.array(z.string()), []),
});
export type ExitRecord = z.infer<typeof exitRecord>;
