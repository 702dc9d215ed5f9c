import type { TeamConfig, TeamMember } from "../../schema/config.ts";
import { changedMetadata, readMetadata } from "../../schema/member-metadata.ts";
import { SCHEMA_VERSION } from "../../schema/migrate.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import type { ProcessIdentity } from "../../schema/process-identity.ts";
import type { ExitRecord, StatusRecord } from "../../schema/status.ts";
import type { Task } from "../../schema/task.ts";
import { withoutLease } from "../tasks/lease.ts";
import { type DroppedRights, journalLineWithoutGrant, withPlainRights } from "./imported-rights.ts";

/**
 * The process of every imported agent, which never existed. The original's process may still be alive, and must
 * neither make the copy look alive nor be killed with it. No process has this start time.
 */
const NO_PROCESS: ProcessIdentity = { pid: 1, procStart: "imported" };

/**
 * Returns the config for the copy of a team, with its own name and ids. It has no lead process, and no places or worktrees
 * of the original, which ending the copy would remove. It has no unfinished starts and endings, which would affect the
 * original's processes, and no session ids of the original.
 * @param copy.here the directory of the import
 * @param copy.endOf returns the id of a member's end, which counts as reported
 * @param copy.sessionOf returns the copy's id of a session
 */
export function importedConfig(
  config: TeamConfig,
  copy: {
    readonly team: string;
    readonly displayName: string | undefined;
    readonly here: string;
    readonly leadSessionId: string;
    readonly endOf: (name: string) => string | undefined;
    readonly sessionOf: (id: string) => string;
  },
): { readonly config: TeamConfig; readonly dropped: readonly DroppedRights[] } {
  const { leadProcess: _process, hiddenPaneIds: _panes, displayName: _name, metadata, ...rest } = config;
  const kept = changedMetadata(metadata, {
    endings: undefined,
    formerNames: undefined,
    recording: undefined,
    // The archive has no conversation of a replaced lead: on the same machine, the copy would continue the original's.
    formerLeadSession: undefined,
  });
  const idOf = (name: string): string => `${name}@${copy.team}`;
  const plain = config.members.map((one) => withPlainRights(one, copy.here));
  const imported = {
    ...rest,
    name: copy.team,
    ...(copy.displayName === undefined ? {} : { displayName: copy.displayName }),
    leadAgentId: idOf(LEAD_NAME),
    leadSessionId: copy.leadSessionId,
    members: plain.map(({ member }) => importedMember(member, idOf(member.name), copy)),
    ...(config.former && {
      former: config.former.map(({ worktree: _path, sessionId: _id, ...one }) => ({
        ...one,
        agentId: idOf(one.name),
      })),
    }),
    ...(kept === undefined ? {} : { metadata: kept }),
    schemaVersion: SCHEMA_VERSION,
  };
  const dropped = plain.flatMap(({ member: { name }, rights }) =>
    rights.length > 0 ? [{ name, rights }] : [],
  );
  return { config: imported, dropped };
}

function importedMember(
  member: TeamMember,
  agentId: string,
  { endOf, sessionOf }: Pick<Parameters<typeof importedConfig>[1], "endOf" | "sessionOf">,
): TeamMember {
  const { isActive: _active, worktreePath: _path, metadata, ...rest } = member;
  const end = endOf(member.name);
  const session = readMetadata(member, "session");
  const kept = changedMetadata(metadata, {
    worktree: undefined,
    startClaim: undefined,
    killClaim: undefined,
    // Its processes and panes are those of another moment, or of another machine.
    adopted: undefined,
    // An archive must not choose where files are written.
    recording: undefined,
    session: session && sessionOf(session),
    ...(end !== undefined && { lastReportedEnd: end }),
  });
  return {
    ...rest,
    agentId,
    tmuxPaneId: "",
    ...(kept === undefined ? {} : { metadata: kept }),
  };
}

/** Returns the status of an imported agent: it has exited, and its conversation can be continued. */
export function importedStatus(
  status: StatusRecord,
  copy: { readonly instance: string; readonly sessionId: string; readonly transcript: string },
): StatusRecord {
  const { tokens, costUsd, since, startedAt, lastActivityAt } = status;
  return {
    sessionId: copy.sessionId,
    transcript: copy.transcript,
    process: NO_PROCESS,
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

/** Returns how an imported agent ended: like the original, or with code 0 at the time of the import. */
export function importedExit(
  exit: ExitRecord | undefined,
  status: StatusRecord,
  copy: { readonly instance: string; readonly now: number },
): ExitRecord {
  return exit !== undefined && exit.instance === status.instance
    ? { ...exit, instance: copy.instance }
    : { instance: copy.instance, code: 0, at: copy.now, lastLines: [] };
}

/** Unassigns a task with a lease, as at every end of an agent; a person's claim stays. */
export function importedTask(task: Task): Task {
  if (task.metadata?._lease === undefined) return task;
  if (task.status === "completed") return withoutLease(task);
  const { owner: _owner, ...rest } = task;
  return withoutLease({ ...rest, status: "pending" });
}

/** Maximum length in bytes of a conversation's first line, which contains the session id. */
const MAX_HEAD = 64 * 1024;

/** Returns the bytes of a conversation, with the new session id in its first line. */
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

/** Maximum length in characters of a line of the journal: a message and its state. */
const MAX_LINE = 16 * 1024 * 1024;

/** Returns the bytes of a journal without messages that give rights. A line that is too long for a reader is left out. */
export async function* importedJournal(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let rest = "";
  for await (const chunk of bytes) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    if (rest.length > MAX_LINE) rest = "";
    if (lines.length > 0)
      yield Buffer.from(lines.map((line) => `${journalLineWithoutGrant(line)}\n`).join(""));
  }
  rest += decoder.decode();
  if (rest !== "") yield Buffer.from(journalLineWithoutGrant(rest));
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
    // An unknown line, which every reader skips.
    return undefined;
  }
}
