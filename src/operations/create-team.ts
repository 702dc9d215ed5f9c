import { randomUUID } from "node:crypto";
import type { Clock } from "../os/clock.ts";
import type { BudgetLimits } from "../schema/budget.ts";
import { defined } from "../schema/defined.ts";
import { changedMetadata } from "../schema/member-metadata.ts";
import type { PermissionMode } from "../schema/permission-modes.ts";
import type { ProcessIdentity } from "../schema/process-identity.ts";
import { createTeamFiles } from "../team/config/config.ts";
import type { Home, TeamRef } from "../team/ref.ts";

export interface CreateTeamInput {
  readonly name: string;
  readonly description?: string;
  /** Takes `name-2`, `name-3`, … where the name is taken, instead of refusing. */
  readonly unique?: boolean;
  readonly cwd: string;
  readonly agentType?: string;
  readonly model?: string;
  readonly mode?: PermissionMode;
  /** The lead's process, where the lead is one; a person with a shell is none. */
  readonly process?: ProcessIdentity;
  readonly sessionId?: string;
  /** What all its members together may spend. */
  readonly budget?: BudgetLimits;
}

/**
 * Makes a team with its lead as the first member.
 * @throws TeamError INVALID_NAME, TEAM_EXISTS
 */
export async function createTeam(
  home: Home,
  clock: Clock,
  input: CreateTeamInput,
): Promise<{ readonly ref: TeamRef; readonly sessionId: string }> {
  const sessionId = input.sessionId ?? randomUUID();
  const ref = await createTeamFiles(
    home,
    defined({
      name: input.name,
      unique: input.unique ?? false,
      description: input.description,
      leadSessionId: sessionId,
      leadCwd: input.cwd,
      leadAgentType: input.agentType,
      leadModel: input.model,
      leadMode: input.mode,
      leadProcess: input.process,
      metadata: input.budget && changedMetadata(undefined, { budget: defined(input.budget) }),
      now: clock.now(),
    }),
  );
  return { ref, sessionId };
}
