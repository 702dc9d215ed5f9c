import { randomUUID } from "node:crypto";
import type { Clock } from "../os/clock.ts";
import { ownSecrets, redactValue } from "../os/redact.ts";
import type { BudgetLimits } from "../schema/budget.ts";
import { defined } from "../schema/defined.ts";
import { changedMetadata } from "../schema/member-metadata.ts";
import type { PermissionMode } from "../schema/permission-modes.ts";
import type { ProcessIdentity } from "../schema/process-identity.ts";
import { createTeamFiles } from "../team/config/create-files.ts";
import { removeAbandonedCopies } from "../team/config/task-copies.ts";
import { castsDirectory } from "../team/records/cast-directories.ts";
import { type Home, type TeamRef, teamRef } from "../team/ref.ts";

export interface CreateTeamInput {
  readonly name: string;
  readonly description?: string;
  /** Uses `name-2`, `name-3`, … if the name is taken, instead of failing. */
  readonly unique?: boolean;
  readonly cwd: string;
  readonly agentType?: string;
  readonly model?: string;
  readonly mode?: PermissionMode;
  /** The lead's process; omitted if a person leads from a shell. */
  readonly process?: ProcessIdentity;
  readonly sessionId?: string;
  /** Facts that the user keeps with it. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Records the screens of its members, into this directory; `true` for the directory of the team's recordings. */
  readonly recording?: string | true | undefined;
  /** The limits for all members together. */
  readonly budget?: BudgetLimits;
}

/**
 * Creates a team with its lead as the first member.
 * @throws TeamError INVALID_NAME, TEAM_EXISTS
 */
export async function createTeam(
  home: Home,
  clock: Clock,
  input: CreateTeamInput,
): Promise<{ readonly ref: TeamRef; readonly sessionId: string }> {
  const sessionId = input.sessionId ?? randomUUID();
  removeAbandonedCopies(teamRef(home, input.name));
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
      metadata: changedMetadata(redactValue(input.metadata, ownSecrets()), {
        budget: input.budget && defined(input.budget),
        recording: input.recording === true ? castsDirectory(home.root, sessionId) : input.recording,
      }),
      now: clock.now(),
    }),
  );
  return { ref, sessionId };
}
