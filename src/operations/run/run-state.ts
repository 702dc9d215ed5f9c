import { TeamError } from "../../errors.ts";
import type { TeamConfig, TeamMember } from "../../schema/config.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import type { AgentState } from "../../schema/status.ts";
import { readTeam } from "../../team/config/config.ts";
import { unreadCount } from "../../team/mailbox/receive.ts";
import { unfinishedEndings } from "../../team/members/ending-claims.ts";
import { type ForeignFacts, judgeForeign } from "../../team/members/judge-foreign.ts";
import { readStatus } from "../../team/records/read-records.ts";
import { defaultOf } from "../../team/requests/answers.ts";
import { hasOpenRequest, listRequests } from "../../team/requests/requests.ts";
import { listTasks, ownerName } from "../../team/tasks/tasks.ts";
import type { OperationContext } from "../context.ts";
import { isAlive } from "../ending/kill.ts";
import { recordedFacts } from "../processes/foreign-facts.ts";
import { hasUnreportedTurn } from "../processes/unreported-turn.ts";
import { unnoticedEnd } from "../supervision/reconcile.ts";

/** The facts that decide whether a run is over. */
export interface RunState {
  /** False if the lead has deleted the team. */
  readonly teamExists: boolean;
  /**
   * The number of running teammates that are in a turn, run a background command, or have unread messages. A teammate that only
   * waits for the answer to a question is not busy.
   */
  readonly busy: number;
  /** The number of running teammates whose last turn was interrupted; the user may still send them messages. */
  readonly interrupted: number;
  /** The number of endings that are not fully processed. */
  readonly unprocessedEnds: number;
  /** The number of messages to the lead that its worker has not read yet. */
  readonly unseenByLead: number;
}

/**
 * Whether a run is over, given that its lead has nothing left to do. An idle teammate sends no more messages: its last message
 * came before its idle notice and gave the lead a turn.
 */
export function isRunOver({ teamExists, busy, unprocessedEnds, unseenByLead }: RunState): boolean {
  return !teamExists || (busy === 0 && unprocessedEnds === 0 && unseenByLead === 0);
}

/** Returns how many background tasks of a member count as work. @param recorded the number of all its background tasks */
type CountBackground = (name: string, recorded: number) => number;

/**
 * Reads the state of a run.
 * @param held how many unread messages to the lead its worker knows and defers
 * @param count by default each background task counts
 */
export function runState(ctx: OperationContext, held = 0, count: CountBackground = countAll): RunState {
  const config = configOf(ctx);
  if (config === undefined)
    return { teamExists: false, busy: 0, interrupted: 0, unprocessedEnds: 0, unseenByLead: 0 };
  const members = config.members.filter(({ name }) => name !== LEAD_NAME);
  // Before the ends: a teammate that ends between the two reads is in one of them.
  const busy = members.filter((member) => isBusy(ctx, member, count));
  const unnoticed = members.filter((member) => unnoticedEnd(ctx, member) !== undefined);
  return {
    teamExists: true,
    busy: busy.length,
    interrupted: members.filter(
      ({ name }) => isAlive(ctx, name) && readStatus(ctx.ref, name)?.interrupted === true,
    ).length,
    unprocessedEnds: unnoticed.length + unfinishedEndings(config).length,
    unseenByLead: unreadCount(ctx.ref, LEAD_NAME) - held,
  };
}

const countAll: CountBackground = (_, recorded) => recorded;

function isBusy(ctx: OperationContext, member: TeamMember, count: CountBackground): boolean {
  const facts = recordedFacts(ctx, member);
  if (facts !== undefined) return isForeignBusy(facts);
  const { name } = member;
  if (!isAlive(ctx, name)) return false;
  // The inbox first: a message that one of our agents reads meanwhile has begun a turn, which the status shows.
  if (unreadCount(ctx.ref, name) > 0) return true;
  // Before the state: its process reports both together.
  return hasUnreportedTurn(ctx.ref, member, readStatus(ctx.ref, name)) || isInTurn(ctx, name, count);
}

/** The states of a foreign member in a turn. While it waits for an answer, its turn has not ended. */
const FOREIGN_TURN: ReadonlySet<AgentState> = new Set(["running", "needs-input"]);

/** A foreign member without signs of a turn, or that may be a script or a person, does not delay the end of a run. */
function isForeignBusy(facts: ForeignFacts): boolean {
  const { alive, request, turnEnds } = facts;
  if (alive === false || (alive === null && request === undefined && turnEnds.length === 0)) return false;
  return FOREIGN_TURN.has(judgeForeign(facts).state) || (facts.alive === true && facts.unread > 0);
}

function isInTurn({ ref }: OperationContext, name: string, count: CountBackground): boolean {
  const { state, background = 0 } = readStatus(ref, name) ?? {};
  if (background > 0 && count(name, background) > 0) return true;
  // Only a program that reads its inbox itself reports this: its turn has ended.
  if (state === "failed") return false;
  // A program that is only typed to may never say that its turn has ended; a task shows that it still works.
  if (state === "unknown")
    return listTasks(ref).some((task) => task.status === "in_progress" && ownerName(task) === name);
  if (state !== "needs-input") return state !== "idle";
  // An answered request makes the teammate busy, even before it has read the answer and updated its status.
  return hasOpenRequest(ref, name, "permission") || !hasOpenRequest(ref, name, "question");
}

/** Returns undefined if the team no longer exists. */
function configOf(ctx: OperationContext): TeamConfig | undefined {
  try {
    return readTeam(ctx.ref);
  } catch (error) {
    if (error instanceof TeamError && error.code === "TEAM_NOT_FOUND") return undefined;
    throw error;
  }
}

/**
 * Whether a teammate is busy, or has sent the lead a message that its worker has not read. The worker waits for them, so that all
 * their messages become one turn.
 * @param held as for {@link runState}
 */
export function areTeammatesWorking(ctx: OperationContext, held = 0): boolean {
  const { busy, unseenByLead } = runState(ctx, held);
  return busy > 0 || unseenByLead > 0;
}

/**
 * Returns the members whose questions have no answer.
 * @param isUserPresent without a user, only questions that get an answer by their deadline
 */
export function membersWithQuestions({ ref }: OperationContext, isUserPresent: boolean): readonly string[] {
  return listRequests(ref)
    .filter((request) => request.kind === "question")
    .filter((request) => isUserPresent || defaultOf(request)?.deadline !== undefined)
    .map(({ from }) => from);
}
