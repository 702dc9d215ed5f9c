import { join } from "node:path";
import { systemClock } from "../os/clock.ts";
import { isOwnRuntime } from "../os/files/app-directories.ts";
import { entryOf, listDir, readText, removeTree } from "../os/files/fs.ts";
import { livenessOf } from "../os/process/identity.ts";
import { agentFileName } from "../protocol/paths.ts";
import { LEAD_NAME } from "../schema/names.ts";
import { type StatusRecord, statusRecord } from "../schema/status.ts";
import { readRecordFile } from "../store/json-file.ts";
import { quarantine } from "../store/quarantine.ts";
import { readTeam } from "../team/config/config.ts";
import { updateTeamFile } from "../team/config/team-lock.ts";
import { parseEntries, readEntry, withTime } from "../team/inbox/inbox-format.ts";
import type { TeamRef } from "../team/ref.ts";
import { operand } from "../text/shell-quote.ts";
import { UNFINISHED_MS } from "./deleted-teams.ts";
import type { Problem } from "./finding.ts";

/** Reads the status record of an agent that teams started. @param agent its file name */
function statusOf(ref: TeamRef, agent: string): StatusRecord | undefined {
  return readRecordFile(join(ref.paths.dir, "run", agent, "status.json"), statusRecord);
}

function isAlive(status: StatusRecord | undefined): status is StatusRecord {
  return status !== undefined && livenessOf(status.process) !== "dead";
}

/** @param agent the member's file name */
function hasMember(ref: TeamRef, agent: string): boolean {
  return readTeam(ref).members.some(({ name }) => agentFileName(name) === agent);
}

/**
 * Finds members that are missing from the config, which another program may have overwritten with an older one. The rest of
 * their entries is not known, so teams cannot repair it.
 */
export function lostMemberProblems(ref: TeamRef): Problem[] {
  const { members } = readTeam(ref);
  const known = new Set(members.map(({ name }) => agentFileName(name)));
  const remedy = `Restore the members in ${ref.paths.config} from a copy, or end the running processes: teams kill.`;
  const lost = listDir(join(ref.paths.dir, "run")).flatMap((agent): Problem[] => {
    const status = known.has(agent) ? undefined : statusOf(ref, agent);
    if (!isAlive(status)) return [];
    const text = `${agent} may still run as process ${status.process.pid}, but config.json does not list it`;
    return [{ level: "fail", text, remedy }];
  });
  const noLead = !known.has(agentFileName(LEAD_NAME));
  return noLead
    ? [{ level: "fail", text: `config.json does not list the lead (${LEAD_NAME})`, remedy }, ...lost]
    : lost;
}

/**
 * Finds inboxes and records of agents that are not members. Repairs only the files of former members, who have left for good:
 * other files may belong to a member that the config lost.
 * @param isCertain whether the config's list of members is certain
 */
export function strayFileProblems(ref: TeamRef, isCertain: boolean): Problem[] {
  const { members, former = [] } = readTeam(ref);
  const namesOf = (agents: readonly { readonly name: string }[]): Set<string> =>
    new Set(agents.map(({ name }) => agentFileName(name)));
  const [here, left] = [namesOf(members), namesOf(former)];
  const inboxes = listDir(ref.paths.inboxes).flatMap((file): Problem[] => {
    const stem = /^([^.]+)\.json$/.exec(file)?.[1];
    if (stem === undefined || here.has(stem) || left.has(stem)) return [];
    return [strayInbox(ref, stem, isCertain)];
  });
  const run = join(ref.paths.dir, "run");
  const runs = listDir(run)
    .filter((agent) => !here.has(agent) && isOld(join(run, agent)))
    .flatMap((agent) => strayRun(ref, agent, isCertain && left.has(agent)));
  return [...inboxes, ...runs];
}

/** Returns the problem of an inbox without a member: no agent reads it. The repair quarantines it if it has no unread messages. */
function strayInbox(ref: TeamRef, stem: string, isCertain: boolean): Problem {
  const path = join(ref.paths.inboxes, `${stem}.json`);
  const text = `${path} belongs to no current or former member`;
  const unread = countUnread(path);
  const hasRun = entryOf(join(ref.paths.dir, "run", stem)) !== undefined;
  if (unread === 0 && !hasRun && stem !== LEAD_NAME && isCertain) {
    // A new member of this name may have got its prompt meanwhile.
    const whileLocked = (): string | undefined => (hasMember(ref, stem) ? undefined : quarantine(path));
    const repair = async (): Promise<string | undefined> => {
      const quarantined = await updateTeamFile(ref, path, { whileLocked });
      return quarantined === undefined ? undefined : `moved to ${quarantined}: ${text}`;
    };
    return { level: "warn", text, repair };
  }
  const content = unread === undefined ? "it cannot be read" : `${unread} of its messages are unread`;
  const remedy = `Check whether config.json lost its member. If not, remove the inbox: rm ${operand(path)}`;
  return { level: "warn", text: `${text}; ${content}`, remedy };
}

/** Returns the number of unread messages; undefined if the inbox cannot be read. */
function countUnread(path: string): number | undefined {
  const entries = parseEntries(readText(path) ?? "[]")?.map((entry) => readEntry(withTime(entry, () => "")));
  return entries?.every((entry) => entry !== undefined)
    ? entries.filter(({ read }) => !read).length
    : undefined;
}

/** Finds records of an ended agent that is not a member; {@link lostMemberProblems} reports running agents. */
function strayRun(ref: TeamRef, agent: string, hasLeft: boolean): Problem[] {
  const path = join(ref.paths.dir, "run", agent);
  const status = statusOf(ref, agent);
  if (isAlive(status)) return [];
  const text = `${path} belongs to an agent that is not a member`;
  if (!hasLeft) {
    const remedy = `Check whether config.json lost this member. If not, remove the directory: rm -r ${operand(path)}`;
    return [{ level: "warn", text: `${text}, and never was`, remedy }];
  }
  const whileLocked = (): boolean => {
    // A new member of this name may have been started meanwhile.
    if (hasMember(ref, agent)) return false;
    removeTree(path);
    const runtime = join(ref.paths.runtime, agent);
    if (isOwnRuntime(runtime, 3)) removeTree(runtime);
    return true;
  };
  const repair = async (): Promise<string | undefined> => {
    const isRemoved = await updateTeamFile(ref, ref.paths.config, { whileLocked });
    return isRemoved ? `removed ${path}: its agent has ended and is not a member` : undefined;
  };
  return [{ level: "warn", text, repair }];
}

/** The agent of a new directory may become a member in a moment. */
function isOld(path: string): boolean {
  const entry = entryOf(path);
  return entry !== undefined && systemClock.now() - Number(entry.mtimeMs) > UNFINISHED_MS;
}
