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

/** What the end of a run depends on. */
export interface RunState {
  /** The team is there; a lead may have deleted it. */
  readonly teamExists: boolean;
  /**
   * Living teammates that are neither idle nor wait for the answer to a question, run something in the background, or have a
   * message that they have not picked up.
   */
  readonly busy: number;
  /** Living teammates whose newest turn somebody has ended, who may have more to say to them. */
  readonly interrupted: number;
  /** Ends of members that not everything has followed from yet. */
  readonly unsettled: number;
  /** Messages to the lead that its worker has not seen yet. */
  readonly onTheWay: number;
}

/**
 * Whether a run whose lead has nothing left to do is over. Nobody is left to hear from when no teammate lives, or all
 * are idle: what an idle one had to say came before its idle notice, and was a turn.
 */
export function isRunOver({ teamExists, busy, unsettled, onTheWay }: RunState): boolean {
  return !teamExists || (busy === 0 && unsettled === 0 && onTheWay === 0);
}

/** @param held unread messages to the lead that its worker knows and holds back */
export function runState(ctx: OperationContext, held = 0): RunState {
  const config = configOf(ctx);
  if (config === undefined) return { teamExists: false, busy: 0, interrupted: 0, unsettled: 0, onTheWay: 0 };
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
    unsettled: unnoticed.length + unfinishedEndings(config).length,
    onTheWay: unreadCount(ctx.ref, LEAD_NAME) - held,
  };
}

function isInTurn({ ref }: OperationContext, name: string): boolean {
  const { state, background = 0 } = readStatus(ref, name) ?? {};
  if (background > 0) return true;
  if (state !== "needs-input") return state !== "idle";
  // What is answered is work again, before its asker has read the answer and says so.
  return hasOpenRequest(ref, name, "permission") || !hasOpenRequest(ref, name, "question");
}

/** Undefined when the team is gone. */
function configOf(ctx: OperationContext): TeamConfig | undefined {
  try {
    return readTeam(ctx.ref);
  } catch (error) {
    if (error instanceof TeamError && error.code === "TEAM_NOT_FOUND") return undefined;
    throw error;
  }
}

/**
 * Whether any teammate works right now, or has said something to the lead that its worker has not seen: what all had to say is
 * one turn.
 * @param held as for {@link runState}
 */
export function othersWork(ctx: OperationContext, held = 0): boolean {
  const { busy, onTheWay } = runState(ctx, held);
  return busy > 0 || onTheWay > 0;
}

/** Whose questions a person has yet to answer. */
export function askers({ ref }: OperationContext): readonly string[] {
  return listRequests(ref).flatMap(({ kind, from }) => (kind === "question" ? [from] : []));
}
