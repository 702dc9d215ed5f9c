import type { TeamConfig } from "../../schema/config.ts";
import { judgeProcess, type TeamRef } from "../ref.ts";

/** Whether a process leads the team, or may lead it, because it cannot be judged from here. In a separate file, since `send` does not need it. */
export function isLed(ref: TeamRef, { leadProcess }: Pick<TeamConfig, "leadProcess">): boolean {
  return leadProcess !== undefined && judgeProcess(ref, leadProcess) !== "dead";
}
