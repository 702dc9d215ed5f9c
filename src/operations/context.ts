import type { AgentTypes } from "../agent/prompts/agent-types.ts";
import type { Backend, CallerPosition } from "../backend/backend.ts";
import type { TeammateMode } from "../backend/choose-backend.ts";
import { TeamError } from "../errors.ts";
import type { Clock } from "../os/clock.ts";
import type { Env } from "../os/env.ts";
import { LEAD_NAME, sameName } from "../schema/names.ts";
import type { Home, TeamRef } from "../team/ref.ts";

/** The kinds of place where teammates can live, assembled by the composition root. */
export interface Backends {
  /** Chooses the backend to spawn with, and says why. @throws TeamError TMUX_NOT_FOUND, INVALID_INPUT */
  choose(
    mode: TeammateMode,
    command: "run" | "single",
  ): Promise<{ readonly backend: Backend; readonly why: string }>;
  /** Returns the backend of a recorded place; undefined for a kind that this program does not drive. */
  of(type: string): Backend | undefined;
}

/** Everything that an operation uses. Operations read nothing from the process itself. */
export interface OperationContext extends CallerPosition {
  readonly home: Home;
  readonly ref: TeamRef;
  /** The acting member's name. */
  readonly actor: string;
  readonly env: Env;
  readonly clock: Clock;
  readonly cwd: string;
  readonly backends: Backends;
  /** Returns the agent types that apply in a directory. Without it, only the built-in types exist. */
  readonly agentTypes?: (directory: string) => Promise<AgentTypes>;
  /** How Node starts our own program. `NODE_OPTIONS` of settings are for an agent's commands: wrong ones would end our program. */
  readonly nodeOptions?: string | undefined;
  /** The program and leading arguments that run this command line: node and the built file. */
  readonly program: readonly string[];
}

/** @throws TeamError NOT_LEAD if a teammate tries an action that only the lead may do (protocol.md section 4). */
export function requireLead(ctx: Pick<OperationContext, "actor">, act: string): void {
  if (sameName(ctx.actor, LEAD_NAME)) return;
  throw new TeamError(
    "NOT_LEAD",
    `Only the lead can ${act}; ${ctx.actor} is a teammate. Nothing was changed.`,
    {
      hint: `Ask the lead: teams send ${LEAD_NAME} "…"`,
    },
  );
}

/** @throws TeamError NESTED_TEAM if a teammate tries to start teammates. */
export function requireNoNesting(ctx: OperationContext): void {
  if (sameName(ctx.actor, LEAD_NAME)) return;
  throw new TeamError(
    "NESTED_TEAM",
    `${ctx.actor} is a teammate and cannot start teammates. Nothing was started.`,
    {
      hint: "Ask the lead to spawn the teammate that you need.",
    },
  );
}
