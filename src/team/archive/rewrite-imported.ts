import type { TeamConfig, TeamMember } from "../../schema/config.ts";
import { changedMetadata } from "../../schema/member-metadata.ts";
import { SCHEMA_VERSION } from "../../schema/migrate.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import type { ProcessIdentity } from "../../schema/process-identity.ts";
import type { ExitRecord, StatusRecord } from "../../schema/status.ts";
import type { Task } from "../../schema/task.ts";
import { withoutLease } from "../tasks/lease.ts";

/**
 * Who an imported agent was: nobody. Its process may live, here or on another machine, as the original's, and must
 * neither keep the copy from being judged dead nor ever be ended with it. No process starts at this moment.
 */
const NOBODY: ProcessIdentity = { pid: 1, procStart: "imported" };

/**
 * A config for the copy of a team: its own name and ids, no lead's process, no places or worktrees of the original, which the
 * copy's end would take from it, and nothing left to be done about an end, which would be done to the original's processes.
 * @param copy.endOf names the end of a member, which nobody needs to be told of
 */
export function importedConfig(
  config: TeamConfig,
  copy: {
    readonly team: string;
    readonly displayName: string | undefined;
    readonly leadSessionId: string;
    readonly endOf: (name: string) => string | undefined;
  },
): TeamConfig {
  const { leadProcess: _process, hiddenPaneIds: _panes, displayName: _name, metadata, ...rest } = config;
  const kept = changedMetadata(metadata, { endings: undefined });
  const idOf = (name: string): string => `${name}@${copy.team}`;
  return {
    ...rest,
    name: copy.team,
    ...(copy.displayName === undefined ? {} : { displayName: copy.displayName }),
    leadAgentId: idOf(LEAD_NAME),
    leadSessionId: copy.leadSessionId,
    members: config.members.map((one) => importedMember(one, idOf(one.name), copy.endOf(one.name))),
    ...(config.former && {
      former: config.former.map(({ worktree: _, ...one }) => ({ ...one, agentId: idOf(one.name) })),
    }),
    ...(kept === undefined ? {} : { metadata: kept }),
    schemaVersion: SCHEMA_VERSION,
  };
}

function importedMember(member: TeamMember, agentId: string, end: string | undefined): TeamMember {
  const { isActive: _active, worktreePath: _path, metadata, ...rest } = member;
  const kept = changedMetadata(metadata, {
    worktree: undefined,
    ...(end !== undefined && { lastReportedEnd: end }),
  });
  return {
    ...rest,
    agentId,
    tmuxPaneId: "",
    ...(kept === undefined ? {} : { metadata: kept }),
  };
}

/** What an imported agent's status says: it has ended, and where its conversation is. */
export function importedStatus(
  status: StatusRecord,
  copy: { readonly instance: string; readonly sessionId: string; readonly transcript: string },
): StatusRecord {
  const { tokens, costUsd, since, startedAt, lastActivityAt } = status;
  return {
    sessionId: copy.sessionId,
    transcript: copy.transcript,
    process: NOBODY,
    instance: copy.instance,
    state: "exited",
    activity: "",
    taskIds: [],
    tokens,
    costUsd,
    since,
    startedAt,
    lastActivityAt,
  };
}

/** How an imported agent ended: as it had, or in order at the moment of the import. */
export function importedExit(
  exit: ExitRecord | undefined,
  status: StatusRecord,
  copy: { readonly instance: string; readonly now: number },
): ExitRecord {
  return exit !== undefined && exit.instance === status.instance
    ? { ...exit, instance: copy.instance }
    : { instance: copy.instance, code: 0, at: copy.now, lastLines: [] };
}

/** A task whose owner was an agent's process comes free, as at every end of an agent; a person's claim stays. */
export function importedTask(task: Task): Task {
  if (task.metadata?._lease === undefined) return task;
  if (task.status === "completed") return withoutLease(task);
  const { owner: _owner, ...rest } = task;
  return withoutLease({ ...rest, status: "pending" });
}

/** Bytes in which the first line of a conversation, which says whose it is, must end to be known. */
const MAX_HEAD = 64 * 1024;

/** The bytes of a conversation, with the session's new id in its first line. */
export async function* importedConversation(
  bytes: AsyncIterable<Uint8Array>,
  sessionId: string,
): AsyncGenerator<Uint8Array> {
  let head: Buffer | undefined = Buffer.alloc(0);
  for await (const chunk of bytes) {
    if (head === undefined) {
      yield chunk;
      continue;
    }
    head = Buffer.concat([head, chunk]);
    if (head.length < MAX_HEAD && !head.includes(0x0a)) continue;
    yield withSession(head, sessionId);
    head = undefined;
  }
  if (head !== undefined) yield head;
}

function withSession(head: Buffer, sessionId: string): Buffer {
  const end = head.indexOf(0x0a);
  const first = parseLine(head.subarray(0, Math.max(0, end)).toString("utf8"));
  if (first?.type !== "session") return head;
  return Buffer.concat([Buffer.from(JSON.stringify({ ...first, sessionId })), head.subarray(end)]);
}

function parseLine(text: string): { readonly type?: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    // Some other line: every reader passes over what it does not know.
    return undefined;
  }
}
