import * as z from "zod/mini";
import { processIdentity, tmuxServerRecord } from "./process-identity.ts";
import { NO_TOKENS } from "./tokens.ts";

/**
 * States that an agent reports (product.md); other processes determine `crashed`, `exited`, `unknown`, and `failed`: the last turn of
 * a foreign member failed.
 */
export const AGENT_STATES = [
  "starting",
  "running",
  "idle",
  "awaiting-approval",
  "needs-input",
  "throttled",
  "paused",
  "stopping",
  "failed",
  "exited",
  "crashed",
  "unknown",
] as const;
const agentState = z.enum(AGENT_STATES);
export type AgentState = z.infer<typeof agentState>;

/**
 * The source of a member's state if its own program does not write it: its last idle `notice`, a later `message` of it, its `inbox` (the
 * messages that it has taken or left there), an open `request`, our `interrupt`, its `process`, a `hook` of its program, or its `signal`:
 * a bell or a notification.
 */
const STATE_SOURCES = [
  "notice",
  "message",
  "inbox",
  "request",
  "interrupt",
  "process",
  "hook",
  "signal",
] as const;
export type StateSource = (typeof STATE_SOURCES)[number];

export const tokenCount = z.object({
  input: z._default(z.number(), 0),
  output: z._default(z.number(), 0),
  cacheRead: z._default(z.number(), 0),
  cacheWrite: z._default(z.number(), 0),
});
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
  /** Its program has not started yet, so it is not ready. */
  awaitsProgram: z.optional(z.boolean()),
  /** The program in its pane reads the inbox and writes the messages itself; `process` starts and watches that program. */
  ownInbox: z.optional(z.boolean()),
  /** A startup dialog may be open (trust, login, a key): no key is pressed for the person. */
  startDialog: z.optional(z.boolean()),
  /** The version of that program; omitted if it is unknown. */
  version: z.optional(z.string()),
  /** With `ownInbox`, the source of the state; omitted if it is unknown. */
  stateFrom: z.optional(z.enum(STATE_SOURCES)),
  /** With `ownInbox`, the time of the newest message that it had taken at the last poll by `process`; 0 for none. */
  newestTaken: z.optional(z.number()),
  /** It approved a shutdown, so its end is not a crash; the first process that notices the end completes the shutdown. */
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
  /** Its account's limit makes it wait; it continues when the limit ends, or when a person resumes it. */
  limited: z.optional(z.boolean()),
  /** When that limit ends, in milliseconds since the epoch, if the server has said it. */
  pausedUntil: z.optional(z.number()),
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

/**
 * `run/<agent>/foreign.json`: a process that was proven to be a foreign member's, and its pane. Written by the process
 * that proves it, so that its end is known later.
 */
export const foreignRecord = z.looseObject({
  /** The joining of the member that it belongs to; a later member of this name has another one. */
  joinedAt: z.number(),
  process: processIdentity,
  pane: z.optional(
    z.object({
      paneId: z.string(),
      server: tmuxServerRecord,
      panePid: z.number(),
      paneProcStart: z.string(),
    }),
  ),
  /** When our interrupt ended its turn, in milliseconds since the epoch. */
  interruptedAt: z.optional(z.number()),
  /** The version of its program; omitted if it is unknown. */
  version: z.optional(z.string()),
  /** Milliseconds since the epoch. */
  provenAt: z.number(),
});
export type ForeignRecord = z.infer<typeof foreignRecord>;

/** Reports of the hooks of a CLI, and of our interrupt. `prompted`: a person typed a prompt into its screen. */
export const HOOK_EVENTS = ["started", "prompted", "tool", "asking", "resting", "interrupted"] as const;
export type HookEvent = (typeof HOOK_EVENTS)[number];

/** `run/<agent>/hook.json`: the last report of a hook of a member's CLI. */
export const hookRecord = z.looseObject({
  /** The start by teams that it belongs to; omitted if teams did not start the CLI. */
  instance: z.optional(z.string()),
  event: z.enum(HOOK_EVENTS),
  /** Milliseconds since the epoch. */
  at: z.number(),
  /** The CLI's own id of its conversation, and its file. */
  conversation: z.optional(z.string()),
  transcript: z.optional(z.string()),
  /** The tool that runs, or the question of its screen; redacted. */
  detail: z.optional(z.string()),
});
export type HookRecord = z.infer<typeof hookRecord>;

/** `run/<agent>/last-words.json`: the last texts of the newest turns, by its hooks, oldest first. */
export const lastWordsRecord = z.looseObject({
  turns: z.array(
    z.looseObject({
      /** When the turn ended, in milliseconds since the epoch. */
      at: z.number(),
      /** Redacted. */
      text: z.string(),
    }),
  ),
});
export type LastWordsRecord = z.infer<typeof lastWordsRecord>;

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
