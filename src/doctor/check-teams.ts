import { messageOf } from "../errors.ts";
import { lostSocketErrors } from "../operations/processes/lost-sockets.ts";
import { entryOf, readText } from "../os/files/fs.ts";
import { isNewerFormat } from "../schema/migrate.ts";
import { listTeams, type TeamEntry } from "../team/config/config.ts";
import { findTeam } from "../team/config/find-team.ts";
import { memberRecords } from "../team/members/member-records.ts";
import { type Home, type TeamRef, teamAt } from "../team/ref.ts";
import { versionIn } from "../team/repair/repair-config.ts";
import { operand } from "../text/shell-quote.ts";
import {
  type Finding,
  fail,
  listSome,
  ok,
  type Problem,
  problemFinding,
  repairProblem,
  warn,
} from "./finding.ts";
import { lostMemberProblems, strayFileProblems } from "./orphaned-records.ts";
import { FILE_CHECKS } from "./stale-files.ts";
import { CONTENT_CHECKS, configProblem } from "./team-files.ts";

interface TeamCheckOptions {
  /** Whether to repair problems. */
  readonly fix: boolean;
  /** Check only this team, even if another program created it; with `fix` the caller has permission to change it. */
  readonly only?: string | undefined;
}

/**
 * Checks the files of every team that teams created, or of one named team. Each finding says what to do or what was repaired.
 * A config that no longer says which program created it is reported, but repaired only if the team is named.
 */
export async function checkTeams(home: Home, { fix, only }: TeamCheckOptions): Promise<Finding[]> {
  const named = only === undefined ? undefined : findTeam(home, only).team;
  const all = listTeams(home);
  const teams = all.filter((entry) => (named === undefined ? isExamined(entry) : entry.team === named));
  const others = named === undefined ? all.filter((entry) => !isExamined(entry)) : [];
  const findings: Finding[] = [];
  for (const { team, ours } of teams) {
    const ref = teamAt(home, team);
    const isNamed = named !== undefined;
    findings.push(...(await checkTeam(ref, { fix: fix && (ours || isNamed), isOurs: ours, isNamed })));
  }
  const withFindings = new Set(findings.map(({ name }) => name));
  const healthy = teams.map(({ team }) => team).filter((team) => !withFindings.has(nameOf(team)));
  const left = others.length === 0 ? [] : [otherTeams(others)];
  if (teams.length === 0) return [ok("teams", "none created by teams"), ...left];
  const inOrder = healthy.length === 0 ? [] : [ok("teams", `all files are in order: ${healthy.join(", ")}`)];
  return [...inOrder, ...findings, ...left];
}

function isExamined({ ours, problem }: TeamEntry): boolean {
  return ours || problem !== undefined;
}

function otherTeams(others: readonly TeamEntry[]): Finding {
  const names = listSome(others.map(({ team }) => team));
  return ok(
    "other teams",
    `${others.length} created by other programs; teams doctor <name> checks one: ${names}`,
  );
}

/** Finds tmux servers that run without a socket; their agents are still running, and only a person may signal them. */
async function lostSocketProblems(ref: TeamRef): Promise<Problem[]> {
  return (await lostSocketErrors(memberRecords(ref))).map(({ message: text, hint: remedy }) => ({
    level: "fail",
    text,
    ...(remedy === undefined ? {} : { remedy }),
  }));
}

const nameOf = (team: string): string => `team ${team}`;

interface CheckTarget {
  readonly fix: boolean;
  readonly isOurs: boolean;
  readonly isNamed: boolean;
}

async function checkTeam(ref: TeamRef, { fix, isOurs, isNamed }: CheckTarget): Promise<Finding[]> {
  const name = nameOf(ref.team);
  const repairCommand = isOurs ? "teams doctor --fix" : `teams doctor --fix --force ${operand(ref.team)}`;
  const found: Finding[] = [];
  const add = async (problems: readonly Problem[]): Promise<void> => {
    for (const problem of problems) {
      found.push(
        ...(fix
          ? await repairProblem(name, problem, repairCommand)
          : [problemFinding(name, problem, repairCommand)]),
      );
    }
  };
  try {
    const version = versionIn(readText(ref.paths.config) ?? "");
    if (version !== undefined && isNewerFormat(version)) {
      const text = `was written by a newer version of teams (file format ${version}); it was not checked`;
      return [warn(name, text, "Install the newest version: npm install -g tmux-teams")];
    }
    const broken = configProblem(ref, fix && isNamed);
    if (broken !== undefined) await add([broken]);
    // The other files can be checked only against the list of members.
    if (broken !== undefined && !isConfigReadable(ref)) return found;
    // A config that was just repaired may have lost a member, so a file without a member may still belong to one.
    const strays: typeof lostMemberProblems = (of) => strayFileProblems(of, broken === undefined);
    for (const check of [...CONTENT_CHECKS, ...FILE_CHECKS, lostMemberProblems, strays, lostSocketProblems]) {
      found.push(...(await guardCheck(name, async () => add(await check(ref)))));
    }
  } catch (error) {
    found.push(uncheckedFinding(name, error));
  }
  return found;
}

/** Runs one check. Its failure is a finding, and does not stop the other checks. */
async function guardCheck(name: string, check: () => Promise<void>): Promise<Finding[]> {
  try {
    await check();
    return [];
  } catch (error) {
    return [uncheckedFinding(name, error)];
  }
}

function uncheckedFinding(name: string, error: unknown): Finding {
  return fail(name, `cannot be checked: ${messageOf(error)}`, "Fix the cause, then run teams doctor again.");
}

function isConfigReadable(ref: TeamRef): boolean {
  return entryOf(ref.paths.config) !== undefined && configProblem(ref, false) === undefined;
}
