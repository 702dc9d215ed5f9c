import type { Transcript } from "../agent/conversation/transcript.ts";
import type { AgentEvent } from "../agent/events.ts";
import type { Hooks } from "../agent/hooks/hooks.ts";
import type { CommandSandbox } from "../agent/tool.ts";
import type { AgentPermissions } from "../agent/turn/permission.ts";
import type { TurnResult } from "../agent/turn/turn.ts";
import type { TeamError } from "../errors.ts";
import type { Env } from "../os/env.ts";
import type { ChannelDialog, ChannelQuestion, ReportedLimit } from "./channel.ts";

/** The limits of a CLI's account. Its turns wait until a limit ends. No method rejects. */
export interface AccountLimits {
  /** Waits until every limit that agents of this account have met has ended. Returns early if the signal aborts. */
  wait(signal: AbortSignal): Promise<void>;
  /** A turn met a limit. @param failure in the words of the CLI */
  met(failure: string, limit: ReportedLimit): Promise<void>;
  /** A turn was completed. */
  passed(): Promise<void>;
}

export interface ChannelAgentOptions {
  /** Name of the CLI, for people. */
  readonly cli: string;
  readonly transcript: Transcript;
  readonly cwd: string;
  readonly env: Env;
  /** The sandbox that the whole CLI runs in; undefined without one. */
  readonly sandbox: CommandSandbox | undefined;
  readonly permissions: AgentPermissions;
  readonly hooks: Hooks | undefined;
  /** Returns what the CLI reads before the first message of its conversation: who it is, and what its team is. */
  readonly instructions: () => string;
  readonly onEvent: (event: AgentEvent) => void;
  /**
   * Called once the CLI has taken the input, or its turn has ended earlier, and the input is on disk. Its messages may then be marked as
   * read.
   */
  readonly onInputRecorded: (keys: readonly string[]) => Promise<void>;
  /**
   * Called if an input was not delivered: it was interrupted before anything was typed, or the process ends. Its messages stay unread.
   */
  readonly onInputKept: () => void;
  /** Called before each turn. `stop` cancels the turn. */
  readonly beforeTurn: (signal: AbortSignal) => Promise<"go" | "stop">;
  /** Called after each report of usage. @returns whether a budget is used up, so that the running turn must stop */
  readonly exceedsBudget: () => Promise<boolean>;
  readonly limits: AccountLimits;
  /**
   * Called for a turn that a person began in the CLI's own screen.
   * @param follow returns the turn's result; its signal interrupts the turn
   */
  readonly onOwnTurn: (follow: (signal: AbortSignal) => Promise<TurnResult>) => void;
  /** Asks a person a question of the CLI. Rejects when the signal aborts; undefined: the person declined. */
  readonly askQuestion: (question: ChannelQuestion, signal: AbortSignal) => Promise<string | undefined>;
  /** Called when a dialog that only a person can answer opens or closes. */
  readonly onDialog: (dialog: ChannelDialog | undefined) => void;
  /** Called when the CLI works without the team's tools. @param remedy what the person can do */
  readonly onWithoutTools: (remedy: string) => void;
  /** Called when the CLI has ended without being asked to; without an error if a person quit it. */
  readonly onEnd: (error: TeamError | undefined) => void;
  /** Called with the text of an alert ("" for a bell) of a CLI that does not report the ends of its turns. */
  readonly onAlert: (text: string) => void;
  readonly hidesTurnEnds: boolean;
  readonly note: (text: string) => void;
}
