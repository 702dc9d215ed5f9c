import type { TeammateMode } from "../../backend/choose-backend.ts";
import type { InProcessBackend } from "../../backend/in-process/in-process-backend.ts";
import type { OperationContext } from "../../operations/context.ts";
import type { SpawnOptions } from "../../operations/spawn/spawn.ts";
import type { Env } from "../../os/env.ts";
import type { BudgetLimits } from "../../schema/budget.ts";
import type { PromptOverrides } from "../../schema/member-metadata.ts";
import type { PermissionMode } from "../../schema/permission-modes.ts";
import type { LiveSettings } from "../../settings/live-settings.ts";
import type { TeamRef } from "../../team/ref.ts";
import type { AnyCall } from "../../terminal/call.ts";
import type { TypingRow } from "../../terminal/input-row.ts";
import type { PaneView } from "../../terminal/pane-view.ts";
import type { ManualBell } from "../../wakeup/bell.ts";
import type { LeadScreen } from "./team-screen.ts";

/** What a run was asked to be; everything in it has been checked. */
export interface LeadPlan {
  readonly team: string;
  /** Empty where the person who is there types it, or the team that is taken up has its own. */
  readonly goal: string;
  /** The team is there, its lead has ended: where those of it live that are started again, where they lived by default. */
  readonly takesUp?: {
    readonly teammateMode?: TeammateMode | undefined;
    /** A person led it until now, whose team it stays. */
    readonly wasByHand?: boolean;
  };
  readonly model: string;
  readonly mode: PermissionMode | undefined;
  /** The lead only coordinates from the start, and the mode is what its teammates have. */
  readonly delegate: boolean;
  /** What is said of the lead's system prompt. */
  readonly words: PromptOverrides;
  readonly spawn: SpawnOptions;
  readonly keep: boolean;
  /** What all together may spend. */
  readonly budget: BudgetLimits;
  readonly sidebar: boolean;
  /** Throws when the run is over and what it was for is not there. */
  readonly check?: () => void;
  /** Absolute path of the playbook that is to be made of the run. */
  readonly record?: string;
  /** Variables for the lead and its teammates besides the caller's. */
  readonly env: Env;
}

/** Whether its goals are typed, one after another, until somebody ends the run. */
export function isConversational({ call, plan }: Pick<Lead, "call" | "plan">): boolean {
  return plan.goal === "" && call.io.terminal.stdin;
}

/** With --json stdout is the result's and stderr the error's; what the lead does is shown there only when asked for. */
export function hidesLeadOutput({ out, options }: AnyCall): boolean {
  return options.quiet || (out.json && !options.verbose);
}

/** A team, and who its lead is. */
export interface MadeTeam {
  readonly ref: TeamRef;
  readonly sessionId: string;
  readonly mode: PermissionMode;
}

/** A lead at work in this process, from its team's making to its end. */
export interface Lead {
  readonly call: AnyCall;
  readonly plan: LeadPlan;
  readonly ctx: OperationContext;
  readonly settings: LiveSettings;
  readonly sessionId: string;
  readonly view: PaneView;
  readonly mode: PermissionMode;
  /** Rung by children of this process (teammates without a pane). */
  readonly children: ManualBell;
  /** Where teammates live in this process. */
  readonly inside: InProcessBackend;
  /** What stands between them and the lead on its terminal; undefined where they live elsewhere, or nobody looks. */
  readonly screen: LeadScreen | undefined;
  /** Where a person types on its own terminal; undefined where nobody looks, or the screen has it. */
  readonly typing: TypingRow | undefined;
  /** It has made its team anew. */
  teamMade: () => Promise<void>;
  /** What it has started for itself, to be ended with it. */
  readonly ends: (() => Promise<void>)[];
}
