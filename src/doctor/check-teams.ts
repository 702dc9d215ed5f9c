import { messageOf } from "../errors.ts";
import { entryOf, readText } from "../os/files/fs.ts";
import { isNewerForm } from "../schema/migrate.ts";
import { listTeams } from "../team/config/config.ts";
import { type Home, type TeamRef, teamRef } from "../team/ref.ts";
import { versionIn } from "../team/repair/repair-config.ts";
import { operand } from "../text/shell-quote.ts";
import { type Finding, type Flaw, fail, findingOf, mended, ok, warn } from "./finding.ts";
import { lostMembers, strayFlaws } from "./orphaned-records.ts";
import { FILE_LOOKS } from "./stale-files.ts";
import { CONTENT_LOOKS, configFlaw } from "./team-files.ts";

interface TeamCare {
  /** Whether what can be mended is. */
  readonly fix: boolean;
  /** The one team to look at, whoever made it: somebody has typed its name, and for `fix` said that it may be changed. */
  readonly only?: string | undefined;
}

/**
 * Looks into the files of every team of ours, or of the one that is named, and says of each flaw what to do, or what was
 * done. A config that does not say whose it is any more is named, and mended by its name alone.
 */
export async function checkTeams(home: Home, { fix, only }: TeamCare): Promise<Finding[]> {
  const named = only === undefined ? undefined : teamRef(home, only).team;
  const teams = listTeams(home).filter(({ team, ours, flaw }) =>
    named === undefined ? ours || flaw !== undefined : team === named,
  );
  const findings: Finding[] = [];
  for (const { team, ours } of teams) {
    const ref = teamRef(home, team);
    const isNamed = named !== undefined;
    findings.push(...(await checkTeam(ref, { fix: fix && (ours || isNamed), isOurs: ours, isNamed })));
  }
  const flawed = new Set(findings.map(({ name }) => name));
  const whole = teams.map(({ team }) => team).filter((team) => !flawed.has(nameOf(team)));
  if (teams.length === 0) return [ok("teams", "none of ours")];
  return whole.length === 0
    ? findings
    : [ok("teams", `all files are whole: ${whole.join(", ")}`), ...findings];
}

const nameOf = (team: string): string => `team ${team}`;

interface Look {
  readonly fix: boolean;
  readonly isOurs: boolean;
  readonly isNamed: boolean;
}

async function checkTeam(ref: TeamRef, { fix, isOurs, isNamed }: Look): Promise<Finding[]> {
  const name = nameOf(ref.team);
  const mendWith = isOurs ? "teams doctor --fix" : `teams doctor --fix --force ${operand(ref.team)}`;
  const found: Finding[] = [];
  const settle = async (flaws: readonly Flaw[]): Promise<void> => {
    for (const flaw of flaws) {
      found.push(...(fix ? await mended(name, flaw, mendWith) : [findingOf(name, flaw, mendWith)]));
    }
  };
  try {
    const version = versionIn(readText(ref.paths.config) ?? "");
    if (version !== undefined && isNewerForm(version)) {
      const text = `was written by a newer version of teams (its form is ${version}); it was not checked`;
      return [warn(name, text, "Install the newest one: npm install -g tmux-teams")];
    }
    const broken = configFlaw(ref, fix && isNamed);
    if (broken !== undefined) await settle([broken]);
    // What stands in the other files can be judged only by who is a member.
    if (broken !== undefined && !isWhole(ref)) return found;
    // Of one that was just mended a member may be lost, so that what is nobody's now may be somebody's.
    const strays: typeof lostMembers = (of) => strayFlaws(of, broken === undefined);
    for (const look of [...CONTENT_LOOKS, ...FILE_LOOKS, lostMembers, strays]) {
      found.push(...(await lookInto(name, async () => settle(look(ref)))));
    }
  } catch (error) {
    found.push(unseen(name, error));
  }
  return found;
}

/** What one look cannot see keeps no other from looking. */
async function lookInto(name: string, look: () => Promise<void>): Promise<Finding[]> {
  try {
    await look();
    return [];
  } catch (error) {
    return [unseen(name, error)];
  }
}

function unseen(name: string, error: unknown): Finding {
  return fail(name, `cannot be checked: ${messageOf(error)}`, "Solve that and run it again.");
}

function isWhole(ref: TeamRef): boolean {
  return entryOf(ref.paths.config) !== undefined && configFlaw(ref, false) === undefined;
}
