import { TeamError } from "../../errors.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import { readTeam } from "../../team/config/config.ts";
import { judgeLiveness } from "../../team/members/judge-liveness.ts";
import { setKeepOnExit } from "../../team/members/start-claims.ts";
import { readExit, readPlace, readStatus } from "../../team/records/read-records.ts";
import { removeStaleFifos } from "../../team/repair/stale-fifos.ts";
import { operand } from "../../text/shell-quote.ts";
import { type OperationContext, requireLead } from "../context.ts";
import { removeEndedMember } from "../ending/remove-member.ts";
import { type ShutdownOptions, type ShutdownReport, shutdownTeammates } from "../ending/shutdown.ts";
import { endProcesses } from "../processes/end-processes.ts";
import { isLed, reconcile } from "../supervision/reconcile.ts";

export type DownOptions = Pick<ShutdownOptions, "timeoutMs" | "reason" | "signal">;

/**
 * Asks every teammate to end, and keeps them in the team: each is `exited`, to be started again by `resume`. A refusal
 * stands; one that has not ended in time is left as it is, and stays a member also when it agrees later.
 * @throws TeamError NOT_LEAD; ACTIVE_MEMBERS while the lead's process lives, which would end its run and delete the team when
 * nobody works any more. Nobody was asked then
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
  // Before they are asked: whoever notices such an end lets the member stay.
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
  const message = `The lead of ${ref.team} is a running process, which ends the team when nobody works any more. Nobody was asked to end.`;
  return new TeamError("ACTIVE_MEMBERS", message, {
    hint: `Ctrl-C twice in its pane ends the run; teams shutdown asks a single teammate. See where it is: teams attach ${operand(LEAD_NAME)}`,
    details: { active: [LEAD_NAME] },
  });
}

function isDown({ ref }: OperationContext, name: string): boolean {
  const member = readTeam(ref).members.find((one) => one.name === name);
  const records = { status: readStatus(ref, name), place: readPlace(ref, name), exit: readExit(ref, name) };
  return member !== undefined && judgeLiveness(member, records).alive === false;
}

/** Ends what an ended member left (the script that holds a crashed one's pane, what went on in the background), and tells of its end. */
async function cleanUpEnded(ctx: OperationContext, name: string): Promise<void> {
  // Nobody here could start a foreign peer again.
  if (readStatus(ctx.ref, name) === undefined && readPlace(ctx.ref, name) === undefined) {
    await removeEndedMember(ctx, name, "shutdown");
    return;
  }
  await endProcesses(ctx, name);
  await reconcile(ctx);
  await removeStaleFifos(ctx.ref, name);
}
