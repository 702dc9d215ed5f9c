import type { AgentTypes } from "../agent/prompts/agent-types.ts";
import type { Backend } from "../backend/backend.ts";
import type { TeammateMode } from "../backend/choose-backend.ts";
import { TeamError } from "../errors.ts";
import type { Clock } from "../os/clock.ts";
import type { Env } from "../os/env.ts";
import { LEAD_NAME, sameName } from "../schema/names.ts";
import type { Home, TeamRef } from "../team/ref.ts";

/** The places where teammates can live, as the composition root has them. */
export interface Backends {
  /** The one to spawn with, and why that one. @throws TeamError TMUX_NOT_FOUND, INVALID_INPUT */
  choose(
    mode: TeammateMode,
    command: "run" | "single",
  ): Promise<{ readonly backend: Backend; readonly why: string }>;
  /** The one that a recorded place belongs to; undefined for a kind that this program does not drive. */
  of(type: string): Backend | undefined;
}

/** Everything that an operation of the lead acts with; nothing in `lead/` reaches past it. */
export interface OperationContext {
  readonly home: Home;
  readonly ref: TeamRef;
  /** The member in whose name this acts. */
  readonly actor: string;
  readonly env: Env;
  readonly clock: Clock;
  readonly cwd: string;
  readonly backends: Backends;
  /** The agent types that count for whoever works in a directory; the built-in ones alone without it. */
  readonly agentTypes?: (directory: string) => Promise<AgentTypes>;
  /** The caller's own pane, inside tmux. */
  readonly callerPane?: string;
  /** Program and leading arguments that start this command line again: node and the built file. */
  readonly program: readonly string[];
}

/** @throws TeamError NOT_LEAD when somebody else asks for what only the lead may do (protocol.md section 4). */
export function requireLead(ctx: OperationContext, act: string): void {
  if (sameName(ctx.actor, LEAD_NAME)) return;
  throw new TeamError(
    "NOT_LEAD",
    `Only the lead can ${act}; ${ctx.actor} is a teammate. Nothing was changed.`,
    {
      hint: `Ask the lead: teams send ${LEAD_NAME} "…"`,
    },
  );
}

/** @throws TeamError NESTED_TEAM when a teammate would start agents of its own. */
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
