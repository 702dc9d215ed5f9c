import { join } from "node:path";
import * as z from "zod/mini";
import { formatJson, replaceFile } from "../../os/files/atomic-write.ts";
import { ensureDir, entryOf } from "../../os/files/fs.ts";
import { ownSecrets, redactValue } from "../../os/redact.ts";
import { transcriptPath } from "../../protocol/paths.ts";
import type { TeamConfig } from "../../schema/config.ts";
import { readMetadata } from "../../schema/member-metadata.ts";
import { isSessionId, LEAD_NAME } from "../../schema/names.ts";
import { readRecordFile } from "../../store/json-file.ts";
import { withLock } from "../../store/lock.ts";
import { shortened } from "../../text/characters/cut-text.ts";

import type { Home, TeamRef } from "../ref.ts";
import { castDirectories } from "./cast-directories.ts";

/** Maximum number of teams in the index; the oldest are removed first. */
const MAX_TEAMS = 200;
/** Maximum number of conversations of one team. */
const MAX_SESSIONS = 64;
/** Maximum characters of a run's result; its conversation contains the whole result. */
const MAX_RESULT = 1_000;

const endedTeam = z.object({
  /** The name of its directory. */
  team: z.string(),
  displayName: z.optional(z.string()),
  /** Milliseconds since the epoch. */
  createdAt: z.number(),
  endedAt: z.number(),
  /** The lead's working directory. */
  cwd: z.string(),
  leadSessionId: z.string(),
  /** The conversations that existed at the end, the lead's first. */
  sessions: z.array(z.object({ agent: z.string(), sessionId: z.string() })),
  /** The directories of its screen recordings. */
  casts: z.optional(z.array(z.string())),
  /** Its last run; absent for a team that only a person led. */
  run: z.optional(
    z.object({
      outcome: z.string(),
      result: z.string(),
      durationMs: z.number(),
      tokens: z.number(),
      costUsd: z.number(),
    }),
  ),
});
/** A team whose run has ended, or that was deleted. */
export type EndedTeam = z.infer<typeof endedTeam>;

/** Broken entries are left out. */
const endedTeams = z.object({
  teams: z.pipe(
    z.array(z.unknown()),
    z.transform((all) =>
      all.flatMap((one): EndedTeam[] => {
        const parsed = endedTeam.safeParse(one);
        return parsed.success ? [parsed.data] : [];
      }),
    ),
  ),
});

function pathOf({ root }: Home): string {
  return join(root, "teams-ended.json");
}

/** Returns the index of ended teams, the newest last. @throws TeamError PERMISSION_DENIED with the system error */
export function readEndedTeams(home: Home): readonly EndedTeam[] {
  return readRecordFile(pathOf(home), endedTeams)?.teams ?? [];
}

/** Returns the entry of a team that is about to end. */
export function endedTeamOf({ team, home }: TeamRef, config: TeamConfig, now: number): EndedTeam {
  const { root } = home;
  const { leadSessionId, displayName, createdAt, members, former = [] } = config;
  const lead = members.find(({ name }) => name === LEAD_NAME);
  const sessions = [
    { agent: LEAD_NAME, sessionId: leadSessionId },
    { agent: LEAD_NAME, sessionId: readMetadata(config, "formerLeadSession") },
    ...members.map((member) => ({ agent: member.name, sessionId: readMetadata(member, "session") })),
    ...former.toReversed().map(({ name, sessionId }) => ({ agent: name, sessionId })),
  ];
  return {
    team,
    ...(displayName === undefined ? {} : { displayName }),
    createdAt,
    endedAt: now,
    cwd: lead?.cwd ?? "",
    leadSessionId,
    ...castsOf(home, config),
    sessions: sessions.flatMap(({ agent, sessionId }) =>
      isSessionId(sessionId) && entryOf(transcriptPath(root, sessionId)) !== undefined
        ? [{ agent, sessionId }]
        : [],
    ),
  };
}

function castsOf(home: Home, config: TeamConfig): Pick<EndedTeam, "casts"> {
  const casts = castDirectories(home, config);
  return casts.length === 0 ? {} : { casts };
}

/**
 * Adds a team to the index. An earlier entry of the same lead's conversation is replaced: its sessions stay, and its run if the new
 * entry has none. A team without a conversation, run or recording is left out.
 * @throws TeamError LOCK_TIMEOUT; a system error if the index cannot be written
 */
export async function recordEndedTeam(home: Home, ended: EndedTeam): Promise<void> {
  if (ended.sessions.length === 0 && ended.run === undefined && ended.casts === undefined) return;
  const path = pathOf(home);
  ensureDir(home.root);
  await withLock(path, ({ assertOwned }) => {
    const known = readEndedTeams(home);
    const others = known.filter((one) => !isSame(one, ended));
    const before = known.find((one) => isSame(one, ended));
    const teams = [...others, before === undefined ? ended : merged(before, ended)].slice(-MAX_TEAMS);
    const secrets = ownSecrets();
    // Redacted before it is cut: half of a secret would not be recognised.
    const kept = teams.map((one) => bounded(redactValue(one, secrets)));
    replaceFile(path, formatJson({ teams: kept }), { beforeRename: () => assertOwned() });
  });
}

/** A lead may rename its team, or delete it and create another. A team of another program may name no session. */
function isSame(a: EndedTeam, b: EndedTeam): boolean {
  if (a.leadSessionId !== "" || b.leadSessionId !== "") return a.leadSessionId === b.leadSessionId;
  return a.team === b.team && a.createdAt === b.createdAt;
}

function merged(before: EndedTeam, ended: EndedTeam): EndedTeam {
  const ids = new Set(ended.sessions.map(({ sessionId }) => sessionId));
  const sessions = [...ended.sessions, ...before.sessions.filter(({ sessionId }) => !ids.has(sessionId))];
  const casts = [...new Set([...(before.casts ?? []), ...(ended.casts ?? [])])];
  return { ...before, ...ended, sessions, ...(casts.length === 0 ? {} : { casts }) };
}

function bounded(ended: EndedTeam): EndedTeam {
  const { run, sessions } = ended;
  return {
    ...ended,
    sessions: sessions.slice(0, MAX_SESSIONS),
    ...(run === undefined ? {} : { run: { ...run, result: shortened(run.result, MAX_RESULT) } }),
  };
}
