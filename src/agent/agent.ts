import type { Clock } from "../os/clock.ts";
import type { Env } from "../os/env.ts";
import { secretsOf } from "../os/redact.ts";
import type { TokenCount } from "../schema/tokens.ts";
import { BackgroundTasks, type TaskFacts, type TaskNotice } from "./background/background-tasks.ts";
import { NOTHING_SPENT, type Spent } from "./conversation/call-model.ts";
import { type CompactionFailure, ContextWindow } from "./conversation/context-window.ts";
import { Conversation } from "./conversation/conversation.ts";
import type { Transcript } from "./conversation/transcript.ts";
import { type AgentEvent, maskEvents } from "./events.ts";
import type { Hooks } from "./hooks/hooks.ts";
import type { SessionSource } from "./hooks/settings.ts";
import { newestTurn, sendable } from "./model/messages.ts";
import type {
  ConversationMessage,
  InputOrigin,
  Model,
  ModelRequest,
  ToolResultBlock,
  ToolUseBlock,
} from "./model/model.ts";
import type { AnyTool, CommandSandbox, ToolContext } from "./tool.ts";
import { toolSpecs } from "./tools/tool-specs.ts";
import type { AgentPermissions } from "./turn/permission.ts";
import { runTools, type ToolCallResults } from "./turn/tool-calls.ts";
import { runTurn, type TurnProgress, type TurnResult } from "./turn/turn.ts";

/** The input of one turn. */
export interface TurnInput {
  readonly text: string;
  readonly origin: InputOrigin;
  /** Inbox keys of the messages in it. Recorded with the input, so that they count as received after a restart. */
  readonly keys: readonly string[];
  /** The input asks the agent to shut down: its program exits after this turn. */
  readonly isLast?: boolean;
}

export interface AgentOptions {
  readonly model: Model;
  /** Creates another model for `changeModel`. */
  readonly modelNamed?: (name: string) => Promise<Model>;
  readonly tools: readonly AnyTool[];
  /** Selects the tools that the model is offered, before each call of the model. Default: all. */
  readonly isOffered?: (tool: AnyTool) => boolean;
  /** The system prompt. A function is called before each call of the model. */
  readonly system: string | (() => string);
  readonly transcript: Transcript;
  readonly cwd: string;
  readonly env: Env;
  /** Returns the path of the shell snapshot that Bash sources; undefined without one. */
  readonly snapshot?: ((signal: AbortSignal) => Promise<string | undefined>) | undefined;
  readonly sessionVariables?: ToolContext["sessionVariables"];
  /** The sandbox of the agent's commands. */
  readonly sandbox?: CommandSandbox | undefined;
  readonly permissions: AgentPermissions;
  readonly hooks?: Hooks;
  /** Names of secret variables that the agent's commands may read. */
  readonly passSecrets?: readonly string[];
  readonly onEvent: (event: AgentEvent) => void;
  /**
   * Called with the keys of an input when the input is on the disk, before the model is called: its messages may be marked as
   * read. Must not reject.
   */
  readonly onInputRecorded?: (keys: readonly string[]) => Promise<void>;
  /** Returns current facts that the agent reads after a compaction; "" for none. */
  readonly facts?: () => string;
  /** Called when the conversation was compacted or cleared, before the model is called again. */
  readonly onSessionStart?: (source: SessionSource, signal: AbortSignal) => Promise<void>;
  /** Called when background work ends and the agent does not know it yet. */
  readonly onTaskEnd?: (notice: TaskNotice) => void;
  /** Called with all known background tasks when one starts or ends. */
  readonly onBackgroundChange?: (tasks: readonly TaskFacts[]) => void;
  /** Called before each tool call except the first, and before the model is called again. `stop` ends the turn there. */
  readonly betweenTools?: () => Promise<"go" | "stop">;
  /** Called before each call of the model, with the conversation on the disk. It may wait. `stop` ends the turn there. */
  readonly beforeCall?: (signal: AbortSignal) => Promise<"go" | "stop">;
  /** The time of background tasks. */
  readonly clock?: Clock;
}

/** An agent: a model with tools and one conversation. It knows no team; it reports its actions by events. */
export interface Agent {
  readonly sessionId: string;
  readonly messages: readonly ConversationMessage[];
  /** Inbox keys of all messages in the conversation. */
  readonly handledKeys: ReadonlySet<string>;
  /** Inbox keys of the newest turn of the conversation when this agent was created. */
  readonly restoredKeys: readonly string[];
  /** Tokens of the whole conversation. */
  readonly tokens: TokenCount;
  /** Cost of the whole conversation in US dollars. */
  readonly costUsd: number;
  /**
   * Resumes the newest turn without new input if it has no outcome yet, and returns its result. Call it before the first `run`.
   */
  resumeTurn(signal: AbortSignal): Promise<TurnResult>;
  /**
   * Runs one turn. Turns must not overlap. While the conversation cannot be written (a full disk), the turn waits. Rejects only if
   * the conversation's directory is gone, never because of a model or tool.
   */
  run(input: TurnInput, signal: AbortSignal): Promise<TurnResult>;
  /** Adds the cost of subagents to the conversation, which keeps it for the next process. */
  addCost(spent: Spent): void;
  /** Changes the model, from the next turn on. Undefined: its program chooses its model itself. @throws if there is no such model */
  changeModel?(name: string): Promise<void>;
  /**
   * Replaces the conversation with a summary, between two turns. Undefined: its program keeps its own conversation.
   * @param focus what the summary must keep above all; "" for nothing in particular
   * @returns undefined on success
   */
  compact?(focus: string, signal: AbortSignal): Promise<CompactionFailure | undefined>;
  /** Starts an empty conversation, between two turns. The file keeps the earlier messages. Undefined as for `compact`. */
  clear?(signal: AbortSignal): Promise<void>;
  /** Number of commands and subagents that are running in the background. */
  readonly runningInBackground: number;
  /** Starts to end a background task for a person; `onTaskEnd` reports its end. Does nothing if the task is not running. */
  endBackgroundTask(id: string): void;
  /** The agent's program does not report the end of a turn: after it accepts an input, its state is unknown. */
  readonly hidesTurnEnds?: boolean;
  /** Interrupts such a program, which may be in a turn. @throws Error if the program cannot be reached now */
  interruptUnseen?(): Promise<void>;
  /** Ends the background work. Call it between turns, and run no turn afterwards. */
  end(): Promise<void>;
}

const FAILED_BEFORE_RESTART = "The turn failed before the agent was restarted.";

export function createAgent(options: AgentOptions): Agent {
  return new ConversationAgent(options);
}

class ConversationAgent implements Agent {
  readonly sessionId: string;
  readonly restoredKeys: readonly string[];
  private readonly conversation: Conversation;
  private readonly options: AgentOptions;
  private readonly emit: (event: AgentEvent) => void;
  private readonly seenFiles = new Map<string, number>();
  private readonly background: BackgroundTasks;
  private model: Model;
  private window: ContextWindow;

  constructor(options: AgentOptions) {
    const { transcript, model } = options;
    this.options = options;
    this.model = model;
    const secrets = secretsOf(options.env);
    this.emit = maskEvents(options.onEvent, secrets);
    this.background = new BackgroundTasks({
      cwd: options.cwd,
      secrets,
      onEnd: options.onTaskEnd,
      onChange: options.onBackgroundChange,
      clock: options.clock,
    });
    this.sessionId = transcript.sessionId;
    this.restoredKeys = transcript.restored.newestKeys;
    this.conversation = new Conversation(transcript, this.emit);
    this.window = this.openWindow(model);
  }

  private openWindow(model: Model): ContextWindow {
    const { conversation, emit } = this;
    const { facts = () => "", onSessionStart: onStart } = this.options;
    return new ContextWindow({ model, conversation, facts, emit, onStart, request: () => this.request() });
  }

  async changeModel(name: string): Promise<void> {
    const { modelNamed } = this.options;
    if (modelNamed === undefined) throw new Error("The model of this agent cannot be changed.");
    const model = await modelNamed(name);
    this.window = this.openWindow(model);
    this.model = model;
  }

  async compact(focus: string, signal: AbortSignal): Promise<CompactionFailure | undefined> {
    if (this.model.window === undefined)
      return { outcome: "failed", failure: "A playbook needs no summary." };
    if ((await this.options.beforeCall?.(signal)) === "stop") return { outcome: "interrupted" };
    const onSpent = (spent: Spent): void => {
      this.conversation.addCost(spent);
      this.emit({ type: "spent", ...spent });
    };
    return this.window.compact(signal, onSpent, { focus });
  }

  async clear(signal: AbortSignal): Promise<void> {
    this.seenFiles.clear();
    await this.window.clear(signal);
  }

  get messages(): readonly ConversationMessage[] {
    return this.conversation.messages;
  }

  get handledKeys(): ReadonlySet<string> {
    return this.conversation.handledKeys;
  }

  get tokens(): TokenCount {
    return this.conversation.spent.usage;
  }

  get costUsd(): number {
    return this.conversation.spent.costUsd;
  }

  addCost({ usage, costUsd }: Spent): void {
    this.conversation.addCost({ usage, costUsd });
  }

  get runningInBackground(): number {
    return this.background.running;
  }

  endBackgroundTask(id: string): void {
    this.background.endForPerson(id);
  }

  async end(): Promise<void> {
    await this.background.endAll();
    await this.conversation.close();
  }

  async run(input: TurnInput, signal: AbortSignal): Promise<TurnResult> {
    this.emit({ type: "turn_started", input: input.text });
    const { text, origin, keys } = input;
    this.conversation.addInput({ role: "user", content: [{ type: "text", text }], origin }, keys);
    await this.conversation.inputWritten(signal, () => this.options.onInputRecorded?.(keys));
    return this.runToEnd({ text: "", toolCalls: 0 }, signal);
  }

  async resumeTurn(signal: AbortSignal): Promise<TurnResult> {
    const { text, toolCalls, outcome } = newestTurn(this.messages);
    if (outcome === undefined) return this.runToEnd({ text, toolCalls }, signal);
    const failure = outcome === "failed" ? { failure: FAILED_BEFORE_RESTART } : {};
    return { outcome, text, toolCalls, ...NOTHING_SPENT, ...failure };
  }

  private runToEnd(progress: TurnProgress, signal: AbortSignal): Promise<TurnResult> {
    const { conversation, window, emit, model } = this;
    const { beforeCall } = this.options;
    return runTurn(progress, {
      ...{ model, conversation, window, signal, emit, beforeCall },
      request: () => this.request(),
      runTools: (uses, isTruncated) => this.runTools(uses, isTruncated, signal),
    });
  }

  private request(): ModelRequest {
    const { system, tools, isOffered = () => true, permissions } = this.options;
    return {
      system: typeof system === "string" ? system : system(),
      messages: sendable(this.messages),
      tools: toolSpecs(tools.filter(isOffered)),
      ...(permissions.planFile === undefined ? {} : { planFile: permissions.planFile }),
    };
  }

  private async runTools(
    uses: readonly ToolUseBlock[],
    isTruncated: boolean,
    signal: AbortSignal,
  ): Promise<ToolCallResults> {
    const { tools, isOffered, cwd, env, snapshot, permissions, hooks, betweenTools } = this.options;
    const ran = await runTools(uses, {
      tools,
      isOffered: isOffered ?? (() => true),
      isTruncated,
      permissions,
      hooks,
      signal,
      emit: this.emit,
      betweenTools: betweenTools ?? (async () => "go"),
      context: {
        cwd,
        env,
        passSecrets: this.options.passSecrets,
        signal,
        seenFiles: this.seenFiles,
        planFile: permissions.planFile,
        background: this.background,
        snapshot,
        sessionVariables: this.options.sessionVariables,
        sandbox: this.options.sandbox,
      },
    });
    this.conversation.addUserContent(this.model.readsData ? ran.results : ran.results.map(withoutData));
    return ran;
  }
}

/** Removes the data of a result. Only playbooks and recordings read it, and it is as long as the result itself. */
function withoutData({ data: _, ...block }: ToolResultBlock): ToolResultBlock {
  return block;
}
