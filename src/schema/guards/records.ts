import {
  type AgentState,
  type ExitRecord,
  exitRecord,
  type PlaceRecord,
  placeRecord,
  type ServerWatchRecord,
  type StateSource,
  type StatusRecord,
  statusRecord,
} from "../status.ts";
import {
  type Form,
  type Guard,
  isFlag,
  isInteger,
  isNumber,
  isText,
  isTextList,
  listOf,
  looseObject,
  oneOf,
  optional,
  plainObject,
} from "./guard.ts";
import { isIdentity } from "./identity.ts";

const STATES: Readonly<Record<AgentState, true>> = {
  starting: true,
  running: true,
  idle: true,
  "awaiting-approval": true,
  "needs-input": true,
  throttled: true,
  paused: true,
  stopping: true,
  failed: true,
  exited: true,
  crashed: true,
  unknown: true,
};

const SOURCES: Readonly<Record<StateSource, true>> = {
  notice: true,
  message: true,
  inbox: true,
  request: true,
  interrupt: true,
  process: true,
  hook: true,
  signal: true,
};

export const isServer = plainObject<NonNullable<PlaceRecord["server"]>>({
  socket: isText,
  pid: isNumber,
  procStart: isText,
});

const isServerWatch = plainObject<ServerWatchRecord>({
  channel: isText,
  server: isServer,
  client: isIdentity,
});

export const statusForm: Form<StatusRecord> = {
  guard: looseObject<StatusRecord>({
    sessionId: isText,
    transcript: isText,
    process: isIdentity,
    shared: optional(isFlag),
    instance: optional(isText),
    before: optional(isIdentity),
    panePid: optional(isNumber),
    paneProcStart: optional(isText),
    paneId: optional(isText),
    server: optional(isServer),
    bell: optional(isText),
    lifeline: optional(isText),
    serverWatches: optional(listOf(isServerWatch)),
    state: oneOf(STATES),
    awaitsProgram: optional(isFlag),
    ownInbox: optional(isFlag),
    startDialog: optional(isFlag),
    version: optional(isText),
    stateFrom: optional(oneOf(SOURCES)),
    newestTaken: optional(isNumber),
    agreedToStop: optional(isFlag),
    shutdownRequested: optional(isFlag),
    resting: optional(isFlag),
    background: optional(isNumber),
    activity: isText,
    taskIds: isTextList,
    inTurn: optional(isNumber),
    limited: optional(isFlag),
    pausedUntil: optional(isNumber),
    interrupted: optional(isFlag),
    tokens: plainObject<StatusRecord["tokens"]>({
      input: isNumber,
      output: isNumber,
      cacheRead: isNumber,
      cacheWrite: isNumber,
    }),
    costUsd: isNumber,
    since: isNumber,
    startedAt: isNumber,
    lastActivityAt: isNumber,
  }),
  schema: () => statusRecord,
};

export const placeForm: Form<PlaceRecord> = {
  guard: looseObject<PlaceRecord>({
    instance: isText,
    backend: isText,
    paneId: optional(isText),
    windowId: optional(isText),
    session: optional(isText),
    inTeamSession: optional(isFlag),
    placement: optional(isText),
    beside: optional(plainObject<NonNullable<PlaceRecord["beside"]>>({ window: isText, layout: isText })),
    server: optional(isServer),
    panePid: optional(isNumber),
    paneProcStart: optional(isText),
    pidSpace: optional(isText),
    bootId: optional(isText),
    logFile: optional(isText),
    within: optional(
      plainObject<NonNullable<PlaceRecord["within"]>>({
        process: isIdentity,
        endWanted: isText,
        endRecord: isText,
      }),
    ),
    spawnedAt: isNumber,
  }),
  schema: () => placeRecord,
};

const isSignal: Guard<string> = (value): value is string => isText(value) && /^SIG[A-Z0-9]+$/.test(value);

export const exitForm: Form<ExitRecord> = {
  guard: looseObject<ExitRecord>({
    instance: isText,
    code: isInteger,
    signal: optional(isSignal),
    at: isNumber,
    lastLines: isTextList,
  }),
  schema: () => exitRecord,
};
