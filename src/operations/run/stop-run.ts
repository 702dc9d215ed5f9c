import { removeTree } from "../../os/files/fs.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import { readTeam } from "../../team/config/config.ts";
import { lookUpMember } from "../../team/members/members.ts";
import { setKeepOnExit } from "../../team/members/start-claims.ts";
import { livenessOfAgent, readStatus } from "../../team/records/read-records.ts";
import type { OperationContext } from "../context.ts";
import { endProcesses } from "../processes/end-processes.ts";
import { isForeignMember } from "../processes/foreign-members.ts";
import { settleAll } from "../processes/settle-all.ts";
import { reconcile } from "../supervision/reconcile.ts";
import { teamLedHere } from "./led-here.ts";

export interface StopReport {
  readonly name: string;
  /**
   * `stopped`: its processes were ended. `down`: they had ended before. `out-of-reach`: it runs elsewhere (another program, machine or
   * container), and was left as it is.
   */
  readonly outcome: "stopped" | "down" | "out-of-reach";
  /** The pids of processes that survived SIGKILL; usually empty. */
  readonly left: readonly number[];
}

/**
 * Ends a run whose team has unfinished work: ends the teammates by signal and keeps members, tasks, worktrees and conversations, so
 * that `run --resume` continues. Teammates are not asked: an interrupted turn is continued at the next start, and an agreed
 * shutdown would end it. Does nothing if this process does not lead the team.
 * @throws the error of recording the ends; the teammates have then ended and are still members
 */
export async function stopRun(ctx: OperationContext): Promise<readonly StopReport[]> {
  const config = teamLedHere(ctx);
  if (config === undefined) return [];
  const names = config.members.flatMap(({ name }) => (name === LEAD_NAME ? [] : [name]));
  // Set before the signals, so that any process that notices such an end keeps the member. Members that agreed to end leave.
  const staying = names.filter((name) => readStatus(ctx.ref, name)?.agreedToStop !== true);
  await setKeepOnExit(ctx.ref, new Set(staying), true);
  const reports = await settleAll(names.map((name) => stopMember(ctx, name)));
  // No process reads the lead's bell any more.
  removeTree(ctx.ref.paths.agent(LEAD_NAME).runtime);
  await reconcile(ctx);
  return reports;
}

async function stopMember(ctx: OperationContext, name: string): Promise<StopReport> {
  const member = lookUpMember(readTeam(ctx.ref), name);
  const liveness = livenessOfAgent(ctx.ref, name);
  if (liveness === "unknown" || member === undefined || isForeignMember(ctx.ref, member))
    return { name, outcome: "out-of-reach", left: [] };
  // Also after its end: a crashed agent's launch script waits in its pane.
  const left = await endProcesses(ctx, name);
  return { name, outcome: liveness === "alive" ? "stopped" : "down", left };
}
