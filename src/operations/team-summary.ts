import { messageOf } from "../errors.ts";
import { systemClock } from "../os/clock.ts";
import { LEAD_NAME } from "../schema/names.ts";
import type { AgentState } from "../schema/status.ts";
import type { TeamEntry } from "../team/config/config.ts";
import { spentByTeam } from "../team/members/budget.ts";
import { judgeShown } from "../team/members/judge-shown.ts";
import { memberRecords } from "../team/members/member-records.ts";
import { type Home, teamAt } from "../team/ref.ts";
import { isoTime } from "../text/local-time.ts";
import { type Approval, listApprovals } from "./approvals/approvals.ts";
import { countsAsAlive, judgeWithLimit, recordedFacts } from "./processes/foreign-facts.ts";

/**
 * The activity of a team: `running` if a member works or waits for an answer, `idle` if processes live and none works, `stopped` without a
 * living process, `unknown` for another program's team.
 */
export type TeamState = "running" | "idle" | "stopped" | "unknown";

/** A row of `teams ls --json`. */
export interface TeamSummary {
  readonly name: string;
  readonly displayName: string;
  readonly description: string | null;
  readonly state: TeamState;
  /** The lead's directory; null if the config cannot be read. */
  readonly directory: string | null;
  readonly members: readonly string[];
  /** Requests that wait for a person. */
  readonly waiting: number;
  readonly tokens: number;
  readonly costUsd: number;
  /** ISO time; null if it is unknown. */
  readonly createdAt: string | null;
  /** Created by `teams`. */
  readonly ours: boolean;
  /** Why its files cannot be read. */
  readonly problem: string | null;
}

/** A team with the requests that wait for a person. */
export interface TeamOverview extends TeamSummary {
  readonly requests: readonly Approval[];
}

const AT_WORK: ReadonlySet<AgentState> = new Set([
  "starting",
  "running",
  "awaiting-approval",
  "needs-input",
  "throttled",
  "stopping",
]);

/** Summarizes a team from its files. Does not reconcile and changes nothing; a file that cannot be read becomes the problem. */
export function teamOverview(home: Home, entry: TeamEntry): TeamOverview {
  const { team, config, ours, problem } = entry;
  const lead = config?.members.find(({ name }) => name === LEAD_NAME) ?? config?.members[0];
  return {
    name: team,
    displayName: config?.displayName ?? team,
    description: config?.description ?? null,
    directory: lead?.cwd ?? null,
    members: config?.members.map(({ name }) => name) ?? [],
    createdAt: isoTime(config?.createdAt),
    ours,
    problem: problem ?? null,
    ...activityOf(home, entry),
  };
}

type Activity = Pick<TeamOverview, "state" | "waiting" | "requests" | "tokens" | "costUsd"> & {
  readonly problem?: string;
};

const NOTHING: Activity = { state: "unknown", waiting: 0, requests: [], tokens: 0, costUsd: 0 };

function activityOf(home: Home, { team, config, ours }: TeamEntry): Activity {
  if (config === undefined || !ours) return NOTHING;
  const ref = teamAt(home, team);
  try {
    const records = memberRecords(ref, config);
    const verdicts = records.map(({ member, ...known }) => {
      // A member that another program runs has no records.
      const facts = recordedFacts({ ref, clock: systemClock }, member);
      if (facts === undefined) return judgeShown(ref, member, known);
      return { state: judgeWithLimit(facts).state, alive: countsAsAlive(facts) };
    });
    const requests = listApprovals(ref, records);
    return { state: stateOf(verdicts), requests, waiting: requests.length, ...spentByTeam(ref, config) };
  } catch (error) {
    return { ...NOTHING, problem: messageOf(error) };
  }
}

/** A lead without a process has no verdict: its `alive` is null. */
function stateOf(
  verdicts: readonly { readonly state: AgentState; readonly alive: boolean | null }[],
): TeamState {
  const living = verdicts.filter(
    ({ alive, state }) => alive === true || (alive === null && state === "starting"),
  );
  if (living.length === 0) return "stopped";
  return living.some(({ state }) => AT_WORK.has(state)) ? "running" : "idle";
}
