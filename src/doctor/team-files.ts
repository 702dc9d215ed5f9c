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
import { quarantine } from "../store/quarantine.ts";
import { readTeam, updateTeam } from "../team/config/config.ts";
import { changeInbox, setAsideBad } from "../team/inbox/inbox-file.ts";
import { parseEntries, readEntry } from "../team/inbox/inbox-format.ts";
import type { TeamRef } from "../team/ref.ts";
import { isConfigSalvageable, quarantineConfig, repairConfig } from "../team/repair/repair-config.ts";
import { jsonProblem } from "../team/repair/repair-json.ts";
import {
  brokenLinks,
  brokenTasks,
  missingWatermark,
  repairTask,
  repairTaskLinks,
  repairWatermark,
} from "../team/repair/repair-tasks.ts";
import { requestSchemaOf } from "../team/requests/requests.ts";
import { deadlockSentence, dependencyCycle } from "../team/tasks/deadlock.ts";
import { taskIds } from "../team/tasks/task-ids.ts";
import { findTask } from "../team/tasks/tasks.ts";
import { operand } from "../text/shell-quote.ts";
import { type Flaw, some } from "./finding.ts";

/**
 * Why a team's config cannot be read; undefined when it can.
 * @param giveUp whether one that nothing can be saved of may be taken out of the way
 */
export function configFlaw(ref: TeamRef, giveUp: boolean): Flaw | undefined {
  const flaw = jsonProblem(ref.paths.config, teamConfig);
  if (flaw === undefined) return undefined;
  if (isConfigSalvageable(ref)) return { level: "fail", text: flaw, mend: () => mendConfig(ref) };
  const left = `An archive of it: teams import <file>. What is left: teams delete --force ${operand(ref.team)}`;
  const text = `${flaw}, and nothing of it can be saved`;
  if (!giveUp) {
    return {
      level: "fail",
      text,
      remedy: `Set it aside: teams doctor ${operand(ref.team)} --fix --force. ${left}`,
    };
  }
  return { level: "fail", text, mend: async () => `set aside as ${await quarantineConfig(ref)}. ${left}` };
}

async function mendConfig(ref: TeamRef): Promise<string | undefined> {
  const repaired = await repairConfig(ref);
  if (typeof repaired !== "object") return undefined;
  const { members, schemaVersion } = readTeam(ref);
  const names = some(members.map(({ name }) => name));
  const whose =
    schemaVersion === undefined ? "; it no longer says that it is ours, so commands need its name" : "";
  return `repaired config.json; it names ${names}${whose}; the original is ${repaired.original}`;
}

/**
 * What is wrong in the files of a team whose config is whole, each looked for when those before are mended: a task that is
 * lost blocks nobody any more, and its number must not be given again.
 */
export const CONTENT_LOOKS: readonly ((ref: TeamRef) => Flaw[])[] = [
  nameFlaws,
  taskFlaws,
  linkFlaws,
  circleFlaws,
  watermarkFlaws,
  inboxFlaws,
  recordFlaws,
  requestFlaws,
  journalFlaws,
];

/** A peer may write the name as a person did; what leads to another directory, or to none, was not written by one. */
function nameFlaws(ref: TeamRef): Flaw[] {
  const { name } = readTeam(ref);
  if (isNameOf(ref, name)) return [];
  const text = `config.json says that it belongs to the team ${JSON.stringify(name)}`;
  const mend = async (): Promise<string> => {
    await updateTeam(ref, (config) =>
      isNameOf(ref, config.name) ? undefined : { ...config, name: ref.team },
    );
    return `gave config.json the name of its directory, ${ref.team}, in place of ${JSON.stringify(name)}`;
  };
  return [{ level: "fail", text, mend }];
}

function isNameOf(ref: TeamRef, name: string): boolean {
  try {
    return teamDir(name) === ref.team;
  } catch (error) {
    if (error instanceof TeamError) return false;
    throw error;
  }
}

/** Which of the links is wrong nothing here can know. */
function circleFlaws(ref: TeamRef): Flaw[] {
  const isBroken = new Set(brokenTasks(ref).map(({ id }) => id));
  const tasks = taskIds(ref).flatMap((id) => (isBroken.has(id) ? [] : (findTask(ref, id) ?? [])));
  const circle = dependencyCycle(tasks);
  if (circle === undefined) return [];
  const text = `nobody can begin these: ${deadlockSentence({ kind: "cycle", tasks: circle })}`;
  const [first = ""] = circle;
  return [{ level: "warn", text, remedy: `Break it: teams task rm ${operand(first)}, and add it again.` }];
}

function taskFlaws(ref: TeamRef): Flaw[] {
  return brokenTasks(ref).map(({ id, problem }) => ({
    level: "fail",
    text: problem,
    mend: async () => {
      const original = await repairTask(ref, id);
      if (original === undefined) return undefined;
      const isThere = fileSize(ref.paths.task(id)) !== undefined;
      return isThere
        ? `repaired task #${id}; the original is ${original}`
        : `set task #${id} aside, of which nothing could be saved: ${original}; its number is not used again`;
    },
  }));
}

function linkFlaws(ref: TeamRef): Flaw[] {
  const flaws = brokenLinks(ref).flatMap((repair) => repair.problems);
  if (flaws.length === 0) return [];
  const mend = async (): Promise<string | undefined> => {
    const repairs = await repairTaskLinks(ref);
    const done = repairs.flatMap((repair) => repair.problems);
    return done.length === 0 ? undefined : `brought the links between tasks in step: ${some(done)}`;
  };
  return [{ level: "warn", text: `links between tasks are out of step: ${some(flaws)}`, mend }];
}

function watermarkFlaws(ref: TeamRef): Flaw[] {
  const mark = missingWatermark(ref);
  if (mark === undefined) return [];
  const mend = async (): Promise<string> => {
    await repairWatermark(ref);
    return `raised the highest number of a task to ${mark}`;
  };
  return [{ level: "warn", text: `the number of a task up to #${mark} could be given twice`, mend }];
}

function inboxFlaws(ref: TeamRef): Flaw[] {
  const config = readTeam(ref);
  const names = [...config.members, ...(config.former ?? [])].map(({ name }) => name);
  const owners = new Map(names.map((name) => [agentFileName(name), name]));
  return listDir(ref.paths.inboxes).flatMap((file): Flaw[] => {
    const stem = /^([^.]+)\.json$/.exec(file)?.[1];
    if (stem === undefined) return [];
    const owner = owners.get(stem);
    return owner === undefined ? [] : ownInbox(ref, owner);
  });
}

function ownInbox(ref: TeamRef, agent: string): Flaw[] {
  const path = ref.paths.inbox(agent);
  const entries = parseEntries(readText(path) ?? "[]");
  const bad = entries?.filter((entry) => readEntry(entry) === undefined).length ?? 0;
  if (entries !== undefined && bad === 0) return [];
  const text =
    entries === undefined ? `${path} cannot be read as a whole` : `${bad} entries of ${path} cannot be read`;
  const mend = async (): Promise<string | undefined> => {
    const said: string[] = [];
    const warn = (sentence: string): void => void said.push(sentence);
    await changeInbox(ref, agent, () => undefined, { warn });
    await setAsideBad(ref, agent, warn);
    return said.length === 0 ? undefined : said.join(" ");
  };
  return [{ level: "fail", text, mend }];
}

const RECORDS: Readonly<Record<string, z.core.$ZodType<unknown>>> = {
  "status.json": statusRecord,
  "place.json": placeRecord,
  "exit.json": exitRecord,
  "crash.json": exitRecord,
};

function recordFlaws(ref: TeamRef): Flaw[] {
  const run = join(ref.paths.dir, "run");
  const paths = listDir(run).flatMap((agent) =>
    Object.entries(RECORDS).map(([file, schema]) => ({ path: join(run, agent, file), schema })),
  );
  return paths.flatMap(({ path, schema }) => asideFlaw(path, schema));
}

function requestFlaws(ref: TeamRef): Flaw[] {
  const { requests } = ref.paths;
  const names = new Set(listDir(requests));
  return [...names].flatMap((name): Flaw[] => {
    const path = join(requests, name);
    const schema = requestSchemaOf(name);
    if (schema === undefined) return [];
    if (!name.endsWith(".answer") || names.has(name.replace(/\.answer$/, ".json")))
      return asideFlaw(path, schema);
    const mend = async (): Promise<string> => {
      removeFile(path);
      return `removed ${path}: what it answers is closed`;
    };
    return [{ level: "warn", text: `${path} answers nothing that waits`, mend }];
  });
}

/** A record that cannot be read tells nothing, and its writer writes it anew; the text is kept for a person to look at. */
function asideFlaw(path: string, schema: z.core.$ZodType<unknown>): Flaw[] {
  const flaw = jsonProblem(path, schema);
  if (flaw === undefined) return [];
  const mend = async (): Promise<string | undefined> =>
    jsonProblem(path, schema) === undefined
      ? undefined
      : `set aside what could not be read: ${quarantine(path)}`;
  return [{ level: "warn", text: flaw, mend }];
}

/** How far back a line is sought that can be read: further than anybody's reading goes for the state of a message. */
const JOURNAL_BYTES = 4 * 1024 * 1024;

/** Its readers pass over a torn line, and the next writer closes it: nothing is lost but what was never acknowledged. */
function journalFlaws(ref: TeamRef): Flaw[] {
  const { journal } = ref.paths;
  const size = fileSize(journal) ?? 0;
  const isTorn = size > 0 && readFrom(journal, size - 1)?.[0] !== 0x0a;
  if (size > 0 && jsonLinesBackwards(journal, journalLine, { maxBytes: JOURNAL_BYTES }).next().done) {
    const mend = async (): Promise<string> =>
      `set aside a journal of which nothing can be read: ${quarantine(journal)}`;
    return [{ level: "fail", text: `${journal}: no line of it can be read`, mend }];
  }
  if (!isTorn) return [];
  const mend = async (): Promise<string> => {
    appendLines(journal, "", true);
    return `closed the last line of ${journal}, which was never finished`;
  };
  return [{ level: "warn", text: `the last line of ${journal} was never finished`, mend }];
}
