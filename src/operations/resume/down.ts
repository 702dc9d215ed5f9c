import { TeamError } from "../../errors.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import { readTeam } from "../../team/config/config.ts";
import { judgeLiveness } from "../../team/members/judge-liveness.ts";
import { lookUpMember } from "../../team/members/members.ts";
import { setKeepOnExit } from "../../team/members/start-claims.ts";
import { readExit, readPlace, readStatus } from "../../team/records/read-records.ts";
import { removeStaleFifos } from "../../team/repair/stale-fifos.ts";
import { operand } from "../../text/shell-quote.ts";
import { type OperationContext, requireLead } from "../context.ts";
import { removeEndedMember } from "../ending/remove-member.ts";
import { type ShutdownOptions, type ShutdownReport, shutdownTeammates } from "../ending/shutdown.ts";
import { endProcesses } from "../processes/end-processes.ts";
import { isForeignMember } from "../processes/foreign-members.ts";
import { isLed, reconcile } from "../supervision/reconcile.ts";

export type DownOptions = Pick<ShutdownOptions, "timeoutMs" | "reason" | "signal">;

/**
 * Asks all teammates to shut down and keeps them in the team as `exited`, so that `resume` can restart them. A teammate that
 * refuses continues to run. A teammate that does not end in time is left as it is, and stays a member even if it agrees later.
 * @throws TeamError NOT_LEAD; ACTIVE_MEMBERS while the lead's process lives, because its run would end, and might delete the team,
 * once no teammate works. Then no teammate was asked
 */
export async function downTeam(
  ctx: OperationContext,
  options: DownOptions = {},
): Promise<readonly ShutdownReport[]> {
  requireLead(ctx, "take the team down");
  if (isLed(ctx)) throw leadStillRuns(ctx);
  await reconcile(ctx);
  const names = readTeam(ctx.ref).members.flatMap(({ name }) => (name === LEAD_NAME ? [] : [name]));
  const down = names.filter((name) => isDown(ctx, name));
  // Set before the requests, so that any process that notices such an end keeps the member.
  await setKeepOnExit(ctx.ref, new Set(names), true);
  for (const name of down) await cleanUpEnded(ctx, name);
  const asked = names.filter((name) => !down.includes(name));
  const ended = (name: string): Promise<unknown> => cleanUpEnded(ctx, name);
  const reports = await shutdownTeammates(ctx, asked, { ...options, onEnded: ended });
  const refused = reports.flatMap(({ name, outcome }) => (outcome === "rejected" ? [name] : []));
  await setKeepOnExit(ctx.ref, new Set(refused), false);
  return [...down.map((name): ShutdownReport => ({ name, outcome: "gone" })), ...reports];
}

function leadStillRuns({ ref }: OperationContext): TeamError {
  const message = `The lead of ${ref.team} is still running, and its run ends once no teammate works. No teammate was asked to shut down.`;
  return new TeamError("ACTIVE_MEMBERS", message, {
    hint: `Press Ctrl-C twice in its pane: the run stops its teammates, and keeps a team with unfinished work. Or shut down a single teammate: teams shutdown <name>. To find the pane: teams attach ${operand(LEAD_NAME)}`,
    details: { active: [LEAD_NAME] },
  });
}

function isDown({ ref }: OperationContext, name: string): boolean {
  const member = readTeam(ref).members.find((one) => one.name === name);
  const records = { status: readStatus(ref, name), place: readPlace(ref, name), exit: readExit(ref, name) };
  return member !== undefined && judgeLiveness(member, records).alive === false;
}

/** Ends the remaining processes of an ended member (a crashed one's launch script, background commands), and reports its end. */
async function cleanUpEnded(ctx: OperationContext, name: string): Promise<void> {
  const member = lookUpMember(readTeam(ctx.ref), name);
  // A foreign member cannot be restarted from here, so it leaves the team. A start that was cut off can be repeated.
  if (member === undefined || isForeignMember(ctx.ref, member)) {
    await removeEndedMember(ctx, name, "shutdown");
    return;
  }
  await endProcesses(ctx, name);
  await reconcile(ctx);
  await removeStaleFifos(ctx.ref, name);
}
