import { join } from "node:path";
import type * as z from "zod/mini";
import { entryOf, fileSize, listDir, readFrom, readText, removeFile } from "../os/files/fs.ts";
import { appendLines } from "../os/files/lines.ts";
import { agentFileName } from "../protocol/paths.ts";
import { teamConfig } from "../schema/config.ts";
import { journalLine } from "../schema/inbox.ts";
import { sameTeamName } from "../schema/names.ts";
import { exitRecord, placeRecord, statusRecord } from "../schema/status.ts";
import { jsonLinesBackwards } from "../store/jsonl.ts";
import { quarantine } from "../store/quarantine.ts";
import { readTeam, updateTeam } from "../team/config/config.ts";
import { readLastConfig } from "../team/config/last-config.ts";
import { changeInbox, settleEntries } from "../team/inbox/inbox-file.ts";
import { isMessage, parseEntries } from "../team/inbox/inbox-format.ts";
import { badEntriesNotices } from "../team/inbox/original-copies.ts";
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
import { listSome, type Problem } from "./finding.ts";

/**
 * Returns the problem of a config that cannot be read; undefined if it can.
 * @param giveUp whether the repair may quarantine a config if no part of it can be recovered
 */
export function configProblem(ref: TeamRef, giveUp: boolean): Problem | undefined {
  const problem = jsonProblem(ref.paths.config, teamConfig);
  if (problem === undefined) return undefined;
  if (isConfigSalvageable(ref)) return { level: "fail", text: problem, repair: () => repairConfigFile(ref) };
  const next = `Then restore the team from an archive (teams import <file>), or delete the rest: teams delete --force ${operand(ref.team)}`;
  const text = `${problem}, and no part of it can be recovered`;
  if (!giveUp) {
    return {
      level: "fail",
      text,
      remedy: `Move it aside: teams doctor ${operand(ref.team)} --fix --force. ${next}`,
    };
  }
  return { level: "fail", text, repair: async () => `moved to ${await quarantineConfig(ref)}. ${next}` };
}

async function repairConfigFile(ref: TeamRef): Promise<string | undefined> {
  const source = readLastConfig(ref) === undefined ? "its readable parts" : "config.json.last";
  const repaired = await repairConfig(ref);
  if (typeof repaired !== "object") return undefined;
  const { members, schemaVersion } = readTeam(ref);
  const names = listSome(members.map(({ name }) => name));
  const unmarked =
    schemaVersion === undefined
      ? "; it no longer says that teams created it, so commands need the team's name"
      : "";
  return `repaired config.json from ${source}; its members are ${names}${unmarked}; the original is ${repaired.original}`;
}

/**
 * The checks of a team's files, for a team whose config can be read. Each runs after the repairs of the checks before it: a
 * lost task no longer blocks other tasks, and its number must not be used again.
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

/** Finds a wrong team name in the config. Another program may write the name as the user typed it, but never a name of another directory. */
function nameProblems(ref: TeamRef): Problem[] {
  const { name } = readTeam(ref);
  if (sameTeamName(name, ref.team)) return [];
  const text = `config.json has the name of another team: ${JSON.stringify(name)}`;
  const repair = async (): Promise<string> => {
    await updateTeam(ref, (config) =>
      sameTeamName(config.name, ref.team) ? undefined : { ...config, name: ref.team },
    );
    return `changed the name in config.json from ${JSON.stringify(name)} to the name of its directory, ${ref.team}`;
  };
  return [{ level: "fail", text, repair }];
}

/** Finds a cycle of dependencies. Has no repair: teams cannot know which of the dependencies is wrong. */
function cycleProblems(ref: TeamRef): Problem[] {
  const isBroken = new Set(brokenTasks(ref).map(({ id }) => id));
  const tasks = taskIds(ref).flatMap((id) => (isBroken.has(id) ? [] : (findTask(ref, id) ?? [])));
  const cycle = dependencyCycle(tasks);
  if (cycle === undefined) return [];
  const text = `these tasks wait for each other: ${deadlockSentence({ kind: "cycle", tasks: cycle })}`;
  const [first = ""] = cycle;
  const remedy = `Break the cycle: teams task rm ${operand(first)}, and add the task again.`;
  return [{ level: "warn", text, remedy }];
}

function taskProblems(ref: TeamRef): Problem[] {
  return brokenTasks(ref).map(({ id, problem: text }) => ({
    level: "fail",
    text,
    repair: async () => {
      const original = await repairTask(ref, id);
      if (original === undefined) return undefined;
      const isRepaired = fileSize(ref.paths.task(id)) !== undefined;
      return isRepaired
        ? `repaired task #${id}; the original is ${original}`
        : `moved task #${id} to ${original}, since no part of it could be recovered; its number is not used again`;
    },
  }));
}

function dependencyProblems(ref: TeamRef): Problem[] {
  const problems = brokenLinks(ref).flatMap((one) => one.problems);
  if (problems.length === 0) return [];
  const repair = async (): Promise<string | undefined> => {
    const repairs = await repairTaskLinks(ref);
    const done = repairs.flatMap((one) => one.problems);
    return done.length === 0 ? undefined : `repaired the dependencies between tasks: ${listSome(done)}`;
  };
  return [
    { level: "warn", text: `dependencies between tasks are inconsistent: ${listSome(problems)}`, repair },
  ];
}

function watermarkProblems(ref: TeamRef): Problem[] {
  const mark = missingWatermark(ref);
  if (mark === undefined) return [];
  const repair = async (): Promise<string> => {
    await repairWatermark(ref);
    return `raised the highest used task number to ${mark}`;
  };
  return [{ level: "warn", text: `a task number up to #${mark} could be used twice`, repair }];
}

function inboxProblems(ref: TeamRef): Problem[] {
  const config = readTeam(ref);
  const names = [...config.members, ...(config.former ?? [])].map(({ name }) => name);
  const owners = new Map(names.map((name) => [agentFileName(name), name]));
  const stems = listDir(ref.paths.inboxes).flatMap(
    (file) => /^([^.]+)\.(?:json|bad\.jsonl)$/.exec(file)?.[1] ?? [],
  );
  return [...new Set(stems)].flatMap((stem): Problem[] => {
    const owner = owners.get(stem);
    return owner === undefined ? [] : problemsOfInbox(ref, owner);
  });
}

function problemsOfInbox(ref: TeamRef, agent: string): Problem[] {
  const moved = badEntriesNotices(ref, [agent]).map((notice): Problem => ({ level: "warn", ...notice }));
  return [...moved, ...presentProblemsOfInbox(ref, agent)];
}

function presentProblemsOfInbox(ref: TeamRef, agent: string): Problem[] {
  const path = ref.paths.inbox(agent);
  const entries = parseEntries(readText(path) ?? "[]");
  const bad = entries?.filter((entry) => !isMessage(entry)).length ?? 0;
  if (entries !== undefined && bad === 0) return [];
  const unreadable = bad === 1 ? "1 entry" : `${bad} entries`;
  const text = entries === undefined ? `${path} cannot be read` : `${unreadable} of ${path} cannot be read`;
  const repair = async (): Promise<string | undefined> => {
    const warnings: string[] = [];
    const warn = (sentence: string): void => void warnings.push(sentence);
    await changeInbox(ref, agent, () => undefined, { warn });
    await settleEntries(ref, agent, warn);
    return warnings.length === 0 ? undefined : warnings.join(" ");
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
  // The target of a link need not belong to the team.
  const agents = listDir(run).filter((agent) => entryOf(join(run, agent))?.isDirectory());
  const paths = agents.flatMap((agent) =>
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
      return `removed ${path}: its request is closed`;
    };
    return [{ level: "warn", text: `${path} answers a request that is closed`, repair }];
  });
}

/** Returns the problem of an unreadable record. The repair quarantines it: its writer writes it again, and the user can still read the text. */
function unreadableFileProblem(path: string, schema: z.core.$ZodType<unknown>): Problem[] {
  const problem = jsonProblem(path, schema);
  if (problem === undefined) return [];
  const repair = async (): Promise<string | undefined> =>
    jsonProblem(path, schema) === undefined ? undefined : `moved an unreadable file to ${quarantine(path)}`;
  return [{ level: "warn", text: problem, repair }];
}

/** How far back the check looks for a readable line: further than any process reads for the state of a message. */
const JOURNAL_BYTES = 4 * 1024 * 1024;

/** Checks the journal. Readers skip a torn line and the next writer closes it: only an entry that was never acknowledged is lost. */
function journalProblems(ref: TeamRef): Problem[] {
  const { journal } = ref.paths;
  const size = fileSize(journal) ?? 0;
  const isTorn = size > 0 && readFrom(journal, size - 1)?.[0] !== 0x0a;
  if (size > 0 && jsonLinesBackwards(journal, journalLine, { maxBytes: JOURNAL_BYTES }).next().done) {
    const repair = async (): Promise<string> => `moved an unreadable journal to ${quarantine(journal)}`;
    return [{ level: "fail", text: `${journal}: no line can be read`, repair }];
  }
  if (!isTorn) return [];
  const repair = async (): Promise<string> => {
    appendLines(journal, "", true);
    return `closed the incomplete last line of ${journal}`;
  };
  return [{ level: "warn", text: `the last line of ${journal} is incomplete`, repair }];
}
