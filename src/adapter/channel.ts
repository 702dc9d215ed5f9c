import type { Spent } from "../agent/conversation/call-model.ts";
import type { ToolAccess } from "../agent/tool.ts";
import type { Env } from "../os/env.ts";
import type { Sandbox } from "../os/sandbox/sandbox.ts";
import type { AdoptedProgram } from "../schema/member-metadata.ts";
import type { PermissionMode } from "../schema/permission-modes.ts";
import type { PlaceRecord } from "../schema/status.ts";
import type { Adapter } from "./adapter-schema.ts";

/** A program that serves the team's tools over MCP on its stdin and stdout. */
export interface ToolServer {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Variables in addition to those of the CLI. */
  readonly env: Readonly<Record<string, string>>;
}

/** Name of the MCP server with the team's tools. */
export const TEAM_SERVER = "teams";

/** The facts and tools with which a channel starts its CLI. */
export interface ChannelSetup {
  readonly adapter: Adapter;
  readonly cwd: string;
  /** The whole environment of the CLI, without the variables of its adapter. */
  readonly env: Env;
  /** Additional directories that it works in. */
  readonly addDirs: readonly string[];
  /** Undefined: the CLI's own default. */
  readonly model: string | undefined;
  readonly effort: string | undefined;
  /** Returns the current permission mode: it changes when a plan is approved, and by `teams mode`. */
  readonly mode: () => PermissionMode;
  readonly servers: readonly ToolServer[];
  /** The sandbox of the whole CLI; undefined without one. */
  readonly sandbox: Sandbox | undefined;
  /** Resolves once the CLI has read which tools the team has. */
  readonly toolsListed: Promise<void>;
  /** A private directory of this start, for settings files and sockets. */
  readonly directory: string;
  /** The pane of tmux that this process is in; undefined outside tmux. */
  readonly place: PlaceRecord | undefined;
  /** Path of the lock that allows one sender at a time for that pane. */
  readonly typing: string;
  /** Path of the FIFO into which a recorder copies the output of that pane. */
  readonly outputCopy: string;
  /** A person's running program that was adopted as this member: it gets messages, but is neither started nor ended. */
  readonly adopted: AdoptedProgram | undefined;
}

/** A request of a CLI for permission. Its texts are hostile: they may contain anything. */
export interface ChannelRequest {
  readonly id: string;
  /** Name of our tool with the same effect, such as `Bash` or `Edit`; else the CLI's own name of the tool. */
  readonly tool: string;
  /** One line for a person. */
  readonly summary: string;
  /** In the form of the tool: `command`, or `file_path`, `old_string` and `new_string`. */
  readonly input: Readonly<Record<string, unknown>>;
  readonly access: ToolAccess;
}

export interface ChannelAnswer {
  readonly allowed: boolean;
  /** For the model. */
  readonly note?: string | undefined;
  /** Whether the note is the answer of a person or the lead: the model must read it, even if the CLI itself passes on no notes. */
  readonly isAnswered?: boolean;
}

/** A question of a CLI to a person. Its texts are hostile. */
export interface ChannelQuestion {
  readonly question: string;
  /** Answers to choose from; a person may give another one. */
  readonly choices: readonly string[];
}

/** A limit of an account, as a CLI reports it. */
export interface ReportedLimit {
  /** When it ends, in milliseconds since the epoch; undefined if the CLI names no time. */
  readonly resumeAt?: number | undefined;
}

/** How a turn ended. */
export interface ChannelTurnEnd {
  readonly outcome: "completed" | "interrupted" | "failed";
  /** The last text of the model; undefined: the pieces that were streamed since the last tool call. */
  readonly text?: string;
  /** Why it failed, for people. */
  readonly failure?: string;
  /** The account limit that ended the turn, if the CLI reports it separately from `failure`. */
  readonly limit?: ReportedLimit | undefined;
}

/** A dialog of a CLI that only a person can answer: a login, trust in a directory. */
export interface ChannelDialog {
  readonly name: string;
  /** How the person answers it. */
  readonly remedy: string;
  /** It precedes the session (trust, login, a key): no key is ever pressed for the person. */
  readonly isStart?: boolean;
}

/** Receives every event of a CLI, whatever caused it. No method throws. */
export interface ChannelEvents {
  /** A turn began that `deliver` did not cause: a person typed into the CLI's own screen. */
  turnStarted(): void;
  /** A piece of the model's text. */
  text(piece: string): void;
  toolStarted(call: { readonly id: string; readonly tool: string; readonly summary: string }): void;
  toolEnded(call: { readonly id: string; readonly content: string; readonly isError: boolean }): void;
  /** @param closed aborts when the request was answered in the CLI's own screen, or its turn ended */
  ask(request: ChannelRequest, closed: AbortSignal): Promise<ChannelAnswer>;
  /**
   * Asks a person a question.
   * @param closed as for `ask`
   * @returns the answer; undefined if the person declined, or if the question was closed
   */
  question(question: ChannelQuestion, closed: AbortSignal): Promise<string | undefined>;
  /** @param dialog undefined if it was answered */
  blocked(dialog: ChannelDialog | undefined): void;
  spent(spent: Spent): void;
  turnEnded(end: ChannelTurnEnd): void;
  /**
   * An alert of a program that does not report the ends of its turns: its turn has ended, or it needs a person.
   * @param text its words; "" for a bell
   */
  alerted(text: string): void;
  /**
   * The CLI ended without being asked to.
   * @param reason with its last words; undefined if a person quit it in its own screen
   */
  ended(reason: string | undefined): void;
  /** The CLI works without the team's tools. @param remedy what the person can do */
  withoutTools(remedy: string): void;
  /** A note for the person. */
  note(text: string): void;
}

/** The connection to one running third-party CLI. No state is read from a screen. */
export interface Channel {
  /**
   * Starts the CLI, or continues its conversation in a new process. Resolves once it accepts messages.
   * @param conversation the CLI's own id of an earlier conversation
   * @returns its id of this conversation; undefined if it cannot be continued later
   * @throws TeamError SPAWN_FAILED
   */
  start(conversation: string | undefined): Promise<string | undefined>;
  /**
   * Starts a turn with a text. Resolves once the CLI has taken it; its end is an event.
   * @param isLast whether the text asks the program to end after this turn
   * @throws Error if the CLI did not take it
   */
  deliver(text: string, isLast: boolean): Promise<void>;
  /** Interrupts the running turn; its end is an event. Does nothing without a turn. */
  interrupt(): Promise<void>;
  /** Ends the CLI with everything that it started. No event follows. */
  end(): Promise<void>;
}

export type OpenChannel = (setup: ChannelSetup, events: ChannelEvents) => Channel;
