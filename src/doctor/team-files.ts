import { join } from "node:path";
import type * as z from "zod/mini";
import { TeamError } from "../errors.ts";
import { fileSize, listDir, readFrom, readText, removeFile } from "../os/files/fs.ts";
import { appendLines } from "../os/files/lines.ts";
import { agentFileName } from "../protocol/paths.ts";
import { teamConfig } from "../schema/config.ts";
import { journalLine } from "../schema/inbox.ts";
import { teamDir } from "../schema/names.ts";
import { exitRecord, placeRecord, statusRecord } from "../schema/status.ts";
import { jsonLinesBackwards } from "../store/jsonl.ts";
import { setAside } from "../store/quarantine.ts";
import { readTeam, updateTeam } from "../team/config/config.ts";
import { changeInbox, setAsideBad } from "../team/inbox/inbox-file.ts";
import { parseEntries, readEntry } from "../team/inbox/inbox-format.ts";
import type { TeamRef } from "../team/ref.ts";
import { isConfigSalvageable, repairConfig, setConfigAside } from "../team/repair/repair-config.ts";
import { parseProblem } from "../team/repair/repair-json.ts";
import {
  brokenLinks,
  brokenTasks,
  mendLinks,
  mendWatermark,
  missingWatermark,
  repairTask,
} from "../team/repair/repair-tasks.ts";
import { requestSchemaOf } from "../team/requests/requests.ts";
import { circleIn, deadlockSentence } from "../team/tasks/deadlock.ts";
import { taskIds } from "../team/tasks/task-ids.ts";
import { findTask } from "../team/tasks/tasks.ts";
import { operand } from "../text/shell-quote.ts";
import { listSome, type Problem } from "./finding.ts";

/**
 * Why a team's config cannot be read; undefined when it can.
 * @param giveUp whether one that nothing can be saved of may be taken out of the way
 */
export function configProblem(ref: TeamRef, giveUp: boolean): Problem | undefined {
  const flaw = parseProblem(ref.paths.config, teamConfig);
  if (flaw === undefined) return undefined;
  if (isConfigSalvageable(ref)) return { level: "fail", text: flaw, repair: () => repairConfigFile(ref) };
  const left = `An archive of it: teams import <file>. What is left: teams delete --force ${operand(ref.team)}`;
  const text = `${flaw}, and nothing of it can be saved`;
  if (!giveUp) {
    return {
      level: "fail",
      text,
      remedy: `Set it aside: teams doctor ${operand(ref.team)} --fix --force. ${left}`,
    };
  }
  return { level: "fail", text, repair: async () => `set aside as ${await setConfigAside(ref)}. ${left}` };
}

async function repairConfigFile(ref: TeamRef): Promise<string | undefined> {
  const repaired = await repairConfig(ref);
  if (typeof repaired !== "object") return undefined;
  const { members, schemaVersion } = readTeam(ref);
  const names = listSome(members.map(({ name }) => name));
  const whose =
    schemaVersion === undefined ? "; it no longer says that it is ours, so commands need its name" : "";
  return `repaired config.json; it names ${names}${whose}; the original is ${repaired.original}`;
}

/**
 * What is wrong in the files of a team whose config is whole, each looked for when those before are mended: a task that is
 * lost blocks nobody any more, and its number must not be given again.
 */
export const CONTENT_CHECKS: readonly ((ref: TeamRef) => Problem[])[] = [
  nameProblems,
  taskProblems,
  dependencyProblems,
  cycleProblems,
  watermarkProblems,
  inboxProblems,
  recordProblems,
  requestProblems,
  journalProblems,
];

/** A peer may write the name as a person did; what leads to another directory, or to none, was not written by one. */
function nameProblems(ref: TeamRef): Problem[] {
  const { name } = readTeam(ref);
  if (isTeamName(ref, name)) return [];
  const text = `config.json says that it belongs to the team ${JSON.stringify(name)}`;
  const repair = async (): Promise<string> => {
    await updateTeam(ref, (config) =>
      isTeamName(ref, config.name) ? undefined : { ...config, name: ref.team },
    );
    return `gave config.json the name of its directory, ${ref.team}, in place of ${JSON.stringify(name)}`;
  };
  return [{ level: "fail", text, repair }];
}

function isTeamName(ref: TeamRef, name: string): boolean {
  try {
    return teamDir(name) === ref.team;
  } catch (error) {
    if (error instanceof TeamError) return false;
    throw error;
  }
}

/** Which of the links is wrong nothing here can know. */
function cycleProblems(ref: TeamRef): Problem[] {
  const isBroken = new Set(brokenTasks(ref).map(({ id }) => id));
  const tasks = taskIds(ref).flatMap((id) => (isBroken.has(id) ? [] : (findTask(ref, id) ?? [])));
  const circle = circleIn(tasks);
  if (circle === undefined) return [];
  const text = `nobody can begin these: ${deadlockSentence({ kind: "cycle", tasks: circle })}`;
  const [first = ""] = circle;
  return [{ level: "warn", text, remedy: `Break it: teams task rm ${operand(first)}, and add it again.` }];
}

function taskProblems(ref: TeamRef): Problem[] {
  return brokenTasks(ref).map(({ id, flaw }) => ({
    level: "fail",
    text: flaw,
    repair: async () => {
      const original = await repairTask(ref, id);
      if (original === undefined) return undefined;
      const isThere = fileSize(ref.paths.task(id)) !== undefined;
      return isThere
        ? `repaired task #${id}; the original is ${original}`
        : `set task #${id} aside, of which nothing could be saved: ${original}; its number is not used again`;
    },
  }));
}

function dependencyProblems(ref: TeamRef): Problem[] {
  const flaws = brokenLinks(ref).flatMap(({ flaws }) => flaws);
  if (flaws.length === 0) return [];
  const repair = async (): Promise<string | undefined> => {
    const repairs = await mendLinks(ref);
    const done = repairs.flatMap(({ flaws }) => flaws);
    return done.length === 0 ? undefined : `brought the links between tasks in step: ${listSome(done)}`;
  };
  return [{ level: "warn", text: `links between tasks are out of step: ${listSome(flaws)}`, repair }];
}

function watermarkProblems(ref: TeamRef): Problem[] {
  const mark = missingWatermark(ref);
  if (mark === undefined) return [];
  const repair = async (): Promise<string> => {
    await mendWatermark(ref);
    return `raised the highest number of a task to ${mark}`;
  };
  return [{ level: "warn", text: `the number of a task up to #${mark} could be given twice`, repair }];
}

function inboxProblems(ref: TeamRef): Problem[] {
  const config = readTeam(ref);
  const names = [...config.members, ...(config.former ?? [])].map(({ name }) => name);
  const owners = new Map(names.map((name) => [agentFileName(name), name]));
  return listDir(ref.paths.inboxes).flatMap((file): Problem[] => {
    const stem = /^([^.]+)\.json$/.exec(file)?.[1];
    if (stem === undefined) return [];
    const owner = owners.get(stem);
    return owner === undefined ? [] : problemsOfInbox(ref, owner);
  });
}

function problemsOfInbox(ref: TeamRef, agent: string): Problem[] {
  const path = ref.paths.inbox(agent);
  const entries = parseEntries(readText(path) ?? "[]");
  const bad = entries?.filter((entry) => readEntry(entry) === undefined).length ?? 0;
  if (entries !== undefined && bad === 0) return [];
  const text =
    entries === undefined ? `${path} cannot be read as a whole` : `${bad} entries of ${path} cannot be read`;
  const repair = async (): Promise<string | undefined> => {
    const said: string[] = [];
    const warn = (sentence: string): void => void said.push(sentence);
    await changeInbox(ref, agent, () => undefined, { warn });
    await setAsideBad(ref, agent, warn);
    return said.length === 0 ? undefined : said.join(" ");
  };
  return [{ level: "fail", text, repair }];
}

const RECORDS: Readonly<Record<string, z.core.$ZodType<unknown>>> = {
  "status.json": statusRecord,
  "place.json": placeRecord,
  "exit.json": exitRecord,
  "crash.json": exitRecord,
};

function recordProblems(ref: TeamRef): Problem[] {
  const run = join(ref.paths.dir, "run");
  const paths = listDir(run).flatMap((agent) =>
    Object.entries(RECORDS).map(([file, schema]) => ({ path: join(run, agent, file), schema })),
  );
  return paths.flatMap(({ path, schema }) => unreadableFileProblem(path, schema));
}

function requestProblems(ref: TeamRef): Problem[] {
  const { requests } = ref.paths;
  const names = new Set(listDir(requests));
  return [...names].flatMap((name): Problem[] => {
    const path = join(requests, name);
    const schema = requestSchemaOf(name);
    if (schema === undefined) return [];
    if (!name.endsWith(".answer") || names.has(name.replace(/\.answer$/, ".json")))
      return unreadableFileProblem(path, schema);
    const repair = async (): Promise<string> => {
      removeFile(path);
      return `removed ${path}: what it answers is closed`;
    };
    return [{ level: "warn", text: `${path} answers nothing that waits`, repair }];
  });
}

/** A record that cannot be read tells nothing, and its writer writes it anew; the text is kept for a person to look at. */
function unreadableFileProblem(path: string, schema: z.core.$ZodType<unknown>): Problem[] {
  const flaw = parseProblem(path, schema);
  if (flaw === undefined) return [];
  const repair = async (): Promise<string | undefined> =>
    parseProblem(path, schema) === undefined
      ? undefined
      : `set aside what could not be read: ${setAside(path)}`;
  return [{ level: "warn", text: flaw, repair }];
}

/** How far back a line is sought that can be read: further than anybody's reading goes for the state of a message. */
const JOURNAL_BYTES = 4 * 1024 * 1024;

/** Its readers pass over a torn line, and the next writer closes it: nothing is lost but what was never acknowledged. */
function journalProblems(ref: TeamRef): Problem[] {
  const { journal } = ref.paths;
  const size = fileSize(journal) ?? 0;
  const isTorn = size > 0 && readFrom(journal, size - 1)?.[0] !== 0x0a;
  if (size > 0 && jsonLinesBackwards(journal, journalLine, { maxBytes: JOURNAL_BYTES }).next().done) {
    const repair = async (): Promise<string> =>
      `set aside a journal of which nothing can be read: ${setAside(journal)}`;
    return [{ level: "fail", text: `${journal}: no line of it can be read`, repair }];
  }
  if (!isTorn) return [];
  const repair = async (): Promise<string> => {
    appendLines(journal, "", true);
    return `closed the last line of ${journal}, which was never finished`;
  };
  return [{ level: "warn", text: `the last line of ${journal} was never finished`, repair }];
}
