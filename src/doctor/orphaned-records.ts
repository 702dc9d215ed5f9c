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
import { lockInTeam } from "../team/config/team-lock.ts";
import { parseEntries, readEntry } from "../team/inbox/inbox-format.ts";
import type { TeamRef } from "../team/ref.ts";
import { operand } from "../text/shell-quote.ts";
import { IN_WORK_MS } from "./deleted-teams.ts";
import type { Flaw } from "./finding.ts";

/** Whoever ran here with a status of ours, by the file name of the agent. */
function statusOf(ref: TeamRef, agent: string): StatusRecord | undefined {
  return readRecordFile(join(ref.paths.dir, "run", agent, "status.json"), statusRecord);
}

function isAlive(status: StatusRecord | undefined): status is StatusRecord {
  return status !== undefined && livenessOf(status.process) !== "dead";
}

/** What a config that another program wrote over with an older one does not say any more. Nothing here can know the rest of it. */
export function lostMembers(ref: TeamRef): Flaw[] {
  const { members } = readTeam(ref);
  const known = new Set(members.map(({ name }) => agentFileName(name)));
  const remedy = `Put the members back into ${ref.paths.config} from a copy of it, or end what still runs: teams kill.`;
  const lost = listDir(join(ref.paths.dir, "run")).flatMap((agent): Flaw[] => {
    const status = known.has(agent) ? undefined : statusOf(ref, agent);
    if (!isAlive(status)) return [];
    const text = `${agent} may still run, as process ${status.process.pid}, and config.json does not name it`;
    return [{ level: "fail", text, remedy }];
  });
  const noLead = !known.has(agentFileName(LEAD_NAME));
  return noLead ? [{ level: "fail", text: `config.json names no ${LEAD_NAME}`, remedy }, ...lost] : lost;
}

/**
 * Inboxes and records of agents that are no members. Nothing is removed that a member would miss who was only lost from the
 * config: who is a former one has left for good.
 * @param isCertain whether the config says for certain who is a member
 */
export function strayFlaws(ref: TeamRef, isCertain: boolean): Flaw[] {
  const { members, former = [] } = readTeam(ref);
  const namesOf = (people: readonly { readonly name: string }[]): Set<string> =>
    new Set(people.map(({ name }) => agentFileName(name)));
  const [here, left] = [namesOf(members), namesOf(former)];
  const inboxes = listDir(ref.paths.inboxes).flatMap((file): Flaw[] => {
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

/** Nobody reads it, and nobody can be written to by that name; one that says nothing is put out of the way. */
function strayInbox(ref: TeamRef, stem: string, isCertain: boolean): Flaw {
  const path = join(ref.paths.inboxes, `${stem}.json`);
  const text = `${path} belongs to nobody who is or was a member`;
  const unread = unreadIn(path);
  const hasRun = entryOf(join(ref.paths.dir, "run", stem)) !== undefined;
  if (unread === 0 && !hasRun && stem !== LEAD_NAME && isCertain) {
    const mend = async (): Promise<string> => {
      const kept = await lockInTeam(ref, path, () => quarantine(path));
      return `set aside as ${kept}: ${text}`;
    };
    return { level: "warn", text, mend };
  }
  const holds = unread === undefined ? "it cannot be read" : `${unread} of its messages are unread`;
  const remedy = `config.json may have lost who it is for. If it is nobody's: rm ${operand(path)}`;
  return { level: "warn", text: `${text}; ${holds}`, remedy };
}

/** How many messages nobody has read; undefined where that cannot be told. */
function unreadIn(path: string): number | undefined {
  const entries = parseEntries(readText(path) ?? "[]")?.map(readEntry);
  return entries?.every((entry) => entry !== undefined)
    ? entries.filter(({ read }) => !read).length
    : undefined;
}

/** One that may still run is told of by {@link lostMembers}. */
function strayRun(ref: TeamRef, agent: string, hasLeft: boolean): Flaw[] {
  const path = join(ref.paths.dir, "run", agent);
  const status = statusOf(ref, agent);
  if (isAlive(status)) return [];
  const text = `${path} belongs to an agent that is not a member`;
  if (!hasLeft) {
    const remedy = `config.json may have lost it. If nobody misses it: rm -r ${operand(path)}`;
    return [{ level: "warn", text: `${text}, and never was`, remedy }];
  }
  const mend = async (): Promise<string> => {
    removeTree(path);
    const runtime = join(ref.paths.runtime, agent);
    if (isOwnRuntime(runtime, 3)) removeTree(runtime);
    return `removed ${path}: its agent is not a member and has ended`;
  };
  return [{ level: "warn", text, mend }];
}

/** One that was just made may be a member in a moment. */
function isOld(path: string): boolean {
  const entry = entryOf(path);
  return entry !== undefined && systemClock.now() - Number(entry.mtimeMs) > IN_WORK_MS;
}
