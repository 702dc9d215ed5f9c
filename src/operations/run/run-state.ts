import { TeamError } from "../../errors.ts";
import type { TeamConfig } from "../../schema/config.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import { readTeam } from "../../team/config/config.ts";
import { unreadCount } from "../../team/mailbox/receive.ts";
import { unfinishedEndings } from "../../team/members/ending-claims.ts";
import { readStatus } from "../../team/records/read-records.ts";
import { hasOpenRequest, listRequests } from "../../team/requests/requests.ts";
import type { OperationContext } from "../context.ts";
import { isAlive } from "../ending/kill.ts";
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

/** Reads the state of a run. @param held how many unread messages to the lead its worker knows and defers */
export function runState(ctx: OperationContext, held = 0): RunState {
  const config = configOf(ctx);
  if (config === undefined)
    return { teamExists: false, busy: 0, interrupted: 0, unprocessedEnds: 0, unseenByLead: 0 };
  const members = config.members.filter(({ name }) => name !== LEAD_NAME);
  const unnoticed = members.filter((member) => unnoticedEnd(ctx, member) !== undefined);
  const busy = members.filter(
    ({ name }) => isAlive(ctx, name) && (isInTurn(ctx, name) || unreadCount(ctx.ref, name) > 0),
  );
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

function isInTurn({ ref }: OperationContext, name: string): boolean {
  const { state, background = 0 } = readStatus(ref, name) ?? {};
  if (background > 0) return true;
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

/** Returns the members whose questions a person has not answered. */
export function membersWithQuestions({ ref }: OperationContext): readonly string[] {
  return listRequests(ref).flatMap(({ kind, from }) => (kind === "question" ? [from] : []));
}
