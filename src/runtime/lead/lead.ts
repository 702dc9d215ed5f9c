import type { TeammateMode } from "../../backend/choose-backend.ts";
import type { InProcessBackend } from "../../backend/in-process/in-process-backend.ts";
import type { OperationContext } from "../../operations/context.ts";
import type { SpawnOptions } from "../../operations/spawn/spawn.ts";
import type { ToolLimits } from "../../operations/spawn/tool-limits.ts";
import type { Env } from "../../os/env.ts";
import type { BudgetLimits } from "../../schema/budget.ts";
import type { McpServer } from "../../schema/mcp-server.ts";
import type { PromptOverrides } from "../../schema/member-metadata.ts";
import type { PermissionMode } from "../../schema/permission-modes.ts";
import type { LiveSettings } from "../../settings/live-settings.ts";
import type { TeamRef } from "../../team/ref.ts";
import type { AnyCall } from "../../terminal/call.ts";
import type { LiveRegion } from "../../terminal/live/live-region.ts";
import type { PaneView } from "../../terminal/pane/pane-view.ts";
import type { ManualBell } from "../../wakeup/bell.ts";
import type { WorkerView } from "../../worker/view.ts";
import type { RunRecorder } from "./run-summary.ts";
import type { LeadScreen } from "./team-screen.ts";

/** A third-party CLI as a lead. */
export interface LeadCli {
  readonly name: string;
  /** Its screen is the lead's terminal. */
  readonly ownScreen: boolean;
  readonly effort?: string | undefined;
}

/** The options of a run, all checked. */
export interface LeadPlan {
  readonly team: string;
  /** Empty if the user types it later, or if a resumed team needs no new one. */
  readonly goal: string;
  /** The run resumes an existing team whose lead has ended or was a person. */
  readonly resumes?: {
    /** Where its stopped teammates are restarted; where they were before if omitted. */
    readonly teammateMode?: TeammateMode | undefined;
    /** A person led it until now, and leads it again after the run. */
    readonly wasByHand?: boolean;
  };
  readonly model: string;
  /** The third-party CLI that is the lead; undefined for teams' own agent. */
  readonly cli?: LeadCli | undefined;
  readonly mode: PermissionMode | undefined;
  /** The lead starts in delegate mode; `mode` then applies to its teammates. */
  readonly delegate: boolean;
  readonly promptOverrides: PromptOverrides;
  /** The limits of the lead's tools, which also apply to teammates that its model starts. */
  readonly limits: ToolLimits;
  readonly spawn: SpawnOptions;
  /** Ends when the goal is reached; else the lead waits for the user's next line, until the user ends the run. */
  readonly once: boolean;
  readonly keep: boolean;
  /** Deletes the team at the end, even with unfinished work. */
  readonly remove: boolean;
  /** Whether the team can be resumed. The built-in audit cannot: its report belongs to one run. */
  readonly resumable: boolean;
  /** Limits for the whole team. */
  readonly budget: BudgetLimits;
  readonly sidebar: boolean;
  /** Called after a completed run. Throws if its expected output is missing. */
  readonly check?: () => void;
  /** Absolute path of the playbook to write from the run. */
  readonly record?: string;
  /** Records the screens of all members, into this directory; `true` for the directory of the team's recordings. */
  readonly screens?: string | true | undefined;
  /** Variables for the lead and its teammates, in addition to the caller's. */
  readonly env: Env;
  /** MCP servers of a client, for the lead alone, in addition to those of the settings. Variables in them are not expanded. */
  readonly mcpServers?: Readonly<Record<string, McpServer>>;
}

/** Why a lead waits: nothing is left to do, its turn was interrupted or failed, or it or a teammate waits for an answer. */
export type LeadRest = "done" | "interrupted" | "failed" | "asking";

/** A client that shows the lead to its user, instead of the terminal of this process. */
export interface LeadClient {
  /** Receives everything that the lead's pane would show. */
  readonly view: WorkerView;
  /** Called each time the lead waits and no teammate works. The next input starts a turn again. */
  onRest(rest: LeadRest): void;
}

/** Whether a user can type to the lead and sees its output. */
export function isInteractive({ io, out, options }: AnyCall): boolean {
  return io.terminal.stdin && io.terminal.stdout && !out.json && !options.quiet;
}

/** Whether a user can type to the lead and answer its questions, in a terminal or in a client. */
export function hasUser({ call, client }: Pick<Lead, "call" | "client">): boolean {
  return client !== undefined || call.io.terminal.stdin;
}

/** True with --quiet, and with --json, where stdout is for the result and stderr for errors, unless --verbose is given. */
export function hidesLeadOutput({ out, options }: AnyCall): boolean {
  return options.quiet || (out.json && !options.verbose);
}

/**
 * Returns the view of a lead whose output is hidden. The view still reports the requests that wait for the user.
 * @param report writes a line for the user
 */
export function withWaitNotices<V extends WorkerView>(view: V, report: (text: string) => void): V {
  return {
    ...view,
    waiting(reason, by, request) {
      report(reason);
      view.waiting(reason, by, request);
    },
    permission(ask) {
      const command = `${ask.tool}(${ask.summary})`;
      report(`The lead asks to run ${command}: teams approve ${ask.id}, or teams reject ${ask.id}`);
      return view.permission(ask);
    },
    note(text, about) {
      if (about === "typed-line") report(text);
      view.note(text, about);
    },
  };
}

/** A team and the session of its lead, created or taken over for this run. */
export interface LedTeam {
  readonly ref: TeamRef;
  readonly sessionId: string;
  readonly mode: PermissionMode;
}

/** A lead that runs in this process. */
export interface Lead {
  readonly call: AnyCall;
  readonly plan: LeadPlan;
  /** Undefined if the lead is shown in the terminal of this process. */
  readonly client: LeadClient | undefined;
  readonly ctx: OperationContext;
  readonly settings: LiveSettings;
  readonly sessionId: string;
  readonly view: PaneView;
  readonly mode: PermissionMode;
  /** Rung by child processes (teammates without a pane). */
  readonly children: ManualBell;
  /** The teammates that run in this process. */
  readonly inProcess: InProcessBackend;
  /** Shows in-process teammates in the terminal; undefined if they run elsewhere, or without an interactive terminal. */
  readonly screen: LeadScreen | undefined;
  /** The last rows of the terminal; undefined if `screen` has them, or without an interactive terminal. */
  readonly region: LiveRegion | undefined;
  /** Set when the user ends the run with /exit or Ctrl-D: whether to keep or delete an unfinished team. */
  exit: "keep" | "delete" | undefined;
  /** Whether a person has given it input that its conversation file may not show: in the screen of its CLI, or as a prompt of a client. */
  hasOwnInput: boolean;
  /** Prints who leads which team, once the width of the terminal is final. */
  readonly showHeader: () => void;
  /** Notes where teammates will run, unless the user sees it anyway. */
  readonly notePlacement: () => void;
  /** Collects the costs and the changes of the run. */
  readonly recorder: RunRecorder;
  /** Called when the lead has recreated or renamed its team. */
  teamMoved: (before: TeamRef) => Promise<void>;
  /** Called at the end of the lead to close the resources that it has opened. */
  readonly ends: (() => Promise<void>)[];
}
