import { TeamError } from "../../errors.ts";
import { removeTree } from "../../os/files/fs.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import type { OperationContext } from "../context.ts";
import { deleteTeam } from "../ending/delete-team.ts";
import { type KillReport, killTeammates } from "../ending/kill.ts";
import { liveForeignMembers } from "../processes/foreign-facts.ts";
import { settleAll } from "../processes/settle-all.ts";
import { copyEvents } from "./copy-events.ts";
import { teamLedHere } from "./led-here.ts";

interface EndRunOptions {
  /** Milliseconds to wait for agreed shutdowns before signals are sent. */
  readonly timeoutMs: number;
  /** Keeps the files, so that the team can be inspected or resumed. */
  readonly keep?: boolean;
  /** Reports a failure that does not prevent the end. */
  readonly problem?: (text: string) => void;
}

/**
 * Ends a run for good: ends the members that still run (asks first), then deletes the team. The team is kept if a foreign member does
 * not agree to end, and no process is proven to be its own. Does nothing if the lead has already deleted the team, or if another
 * process has created a new team with the name.
 */
export async function endRun(ctx: OperationContext, options: EndRunOptions): Promise<readonly KillReport[]> {
  const config = teamLedHere(ctx);
  if (config === undefined) return [];
  const foreign = await liveForeignMembers(ctx, config);
  const names = config.members.flatMap(({ name }) => (name === LEAD_NAME ? [] : [name]));
  const isUnproven = (name: string): boolean => foreign.get(name)?.alive === null;
  const { timeoutMs } = options;
  const provable = names.filter((name) => !isUnproven(name));
  const [ended = [], asked = []] = await settleAll([
    killTeammates(ctx, provable, { timeoutMs }),
    endUnproven(ctx, names.filter(isUnproven), timeoutMs),
  ]);
  const reports = [...ended, ...asked];
  if (teamLedHere(ctx) === undefined) return reports;
  const worktrees = reports.flatMap(({ worktree }) => worktree ?? []);
  const isKept = options.keep || asked.some(({ outcome }) => outcome === "out-of-reach");
  const { problem } = options;
  const beforeRemoval = (): void => copyEvents(ctx, problem);
  if (!isKept) await deleteTeam(ctx, { force: true, worktrees, problem, beforeRemoval });
  // No process reads the lead's bell any more.
  else removeTree(ctx.ref.paths.agent(LEAD_NAME).runtime);
  return reports;
}

/** Asks members whose processes are not proven. Those that do not agree stay in the team. */
async function endUnproven(
  ctx: OperationContext,
  names: readonly string[],
  timeoutMs: number,
): Promise<readonly KillReport[]> {
  const reports = names.map(async (name): Promise<readonly KillReport[]> => {
    try {
      return await killTeammates(ctx, [name], { timeoutMs });
    } catch (error) {
      if (!(error instanceof TeamError) || error.code !== "ACTIVE_MEMBERS") throw error;
      return [{ name, outcome: "out-of-reach", left: [] }];
    }
  });
  return (await settleAll(reports)).flat();
}
