import { type Clock, systemClock } from "../os/clock.ts";
import type { Env } from "../os/env.ts";
import { secretsOf } from "../os/redact.ts";
import type { TokenCount } from "../schema/tokens.ts";
import { BackgroundTasks, type TaskNotice } from "./background/background-tasks.ts";
import { NOTHING_SPENT, type Spent } from "./conversation/call-model.ts";
import { ContextWindow } from "./conversation/context-window.ts";
import { Conversation } from "./conversation/conversation.ts";
import type { Transcript } from "./conversation/transcript.ts";
import { type AgentEvent, maskEvents } from "./events.ts";
import type { Hooks } from "./hooks/hooks.ts";
import { newestTurn, sendable } from "./model/messages.ts";
import type {
  ConversationMessage,
  InputOrigin,
  Model,
  ModelRequest,
  StopReason,
  ToolResultBlock,
  ToolUseBlock,
} from "./model/model.ts";
import type { AnyTool } from "./tool.ts";
import { toolSpecs } from "./tools/tool-specs.ts";
import type { AgentPermissions } from "./turn/permitted-call.ts";
import { runTools, type ToolCallResults } from "./turn/tool-calls.ts";
import { runTurn, type TurnProgress, type TurnResult } from "./turn/turn.ts";

/** One turn's input: what the model reads, where it came from, and the inbox keys of the messages in it. */
export interface TurnInput {
  readonly text: string;
  readonly origin: InputOrigin;
  /** Recorded with the input: a message that is named here was received, also after a restart. */
  readonly keys: readonly string[];
}

export interface AgentOptions {
  readonly model: Model;
  readonly tools: readonly AnyTool[];
  /** Which of them the model is told of, asked before each call of it; all without it. */
  readonly isOffered?: (tool: AnyTool) => boolean;
  /** Asked before each call of the model if it is a function. */
  readonly system: string | (() => string);
  readonly transcript: Transcript;
  readonly cwd: string;
  readonly env: Env;
  /** Shell snapshot that Bash sources, once there is one. */
  readonly snapshot?: () => string | undefined;
  readonly permissions: AgentPermissions;
  readonly hooks?: Hooks;
  /** Variables with credentials that its commands may have. */
  readonly passSecrets?: readonly string[];
  readonly onEvent: (event: AgentEvent) => void;
  /** The input is on the disk, and no model has been called on it: the messages in it may be marked read. */
  readonly onInputRecorded?: () => Promise<void>;
  /** What the agent should read of the world as it is now when its conversation was compacted; "" for nothing. */
  readonly facts?: () => string;
  /** Told of each end of something in the background that the agent has not learned of itself. */
  readonly onTaskEnd?: (notice: TaskNotice) => void;
  /** Asked before each tool call but the first, and before the model is called again: `stop` ends the turn there. */
  readonly betweenTools?: () => Promise<"go" | "stop">;
  /**
   * Asked before each call of the model, with everything before it on the disk: it may take its time, and `stop` ends the turn
   * there.
   */
  readonly beforeCall?: (signal: AbortSignal) => Promise<"go" | "stop">;
  readonly clock?: Clock;
}

/** An agent: a model with tools and one conversation. It knows nobody else; what it does it tells by events. */
export interface Agent {
  readonly sessionId: string;
  readonly messages: readonly ConversationMessage[];
  /** Inbox keys of everything that is in the conversation. */
  readonly handledKeys: ReadonlySet<string>;
  /** Inbox keys of the turn that the conversation ended with when this agent was made of it. */
  readonly restoredKeys: readonly string[];
  /** Of the whole conversation. */
  readonly tokens: TokenCount;
  /** The same in US dollars. */
  readonly costUsd: number;
  /**
   * Goes on with that turn, without new input, where the model has not had its last word; says how the turn ended. Before the
   * first `run`, and under its rules.
   */
  resumeTurn(signal: AbortSignal): Promise<TurnResult>;
  /** Runs one turn; one at a time. It rejects only when the conversation cannot be written, never for a model or a tool. */
  run(input: TurnInput, signal: AbortSignal): Promise<TurnResult>;
  /** Writes down what those took that work for it: it is of its conversation, which goes on with it. */
  addCost(spent: Spent): void;
  /** How much it runs in the background. */
  readonly runningInBackground: number;
  /** Ends what it runs in the background; between turns, and nothing is run behind it. */
  end(): Promise<void>;
}

const FAILED_BEFORE_RESTART = "The turn had failed when the agent was started again.";

export function createAgent(options: AgentOptions): Agent {
  return new ConversationAgent(options);
}

class ConversationAgent implements Agent {
  readonly sessionId: string;
  readonly restoredKeys: readonly string[];
  private readonly conversation: Conversation;
  private readonly options: AgentOptions;
  private readonly clock: Clock;
  private readonly emit: (event: AgentEvent) => void;
  private readonly seenFiles = new Map<string, number>();
  private readonly background: BackgroundTasks;
  private readonly window: ContextWindow;

  constructor(options: AgentOptions) {
    const { transcript, model, facts = () => "" } = options;
    this.options = options;
    this.clock = options.clock ?? systemClock;
    const secrets = secretsOf(options.env);
    this.emit = maskEvents(options.onEvent, secrets);
    this.background = new BackgroundTasks({ cwd: options.cwd, secrets, onEnd: options.onTaskEnd });
    this.sessionId = transcript.sessionId;
    this.restoredKeys = transcript.restored.newestKeys;
    this.conversation = new Conversation(transcript);
    const { conversation, emit } = this;
    this.window = new ContextWindow({
      model,
      conversation,
      facts,
      emit,
      request: () => this.request(),
    });
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

  end(): Promise<void> {
    return this.background.endAll();
  }

  async run(input: TurnInput, signal: AbortSignal): Promise<TurnResult> {
    this.emit({ type: "turn_started", input: input.text });
    const { text, origin, keys } = input;
    this.conversation.addInput({ role: "user", content: [{ type: "text", text }], origin }, keys);
    await this.options.onInputRecorded?.();
    return this.runToEnd({ text: "", toolCalls: 0 }, signal);
  }

  async resumeTurn(signal: AbortSignal): Promise<TurnResult> {
    const { text, toolCalls, outcome } = newestTurn(this.messages);
    if (outcome === undefined) return this.runToEnd({ text, toolCalls }, signal);
    const failure = outcome === "failed" ? { failure: FAILED_BEFORE_RESTART } : {};
    return { outcome, text, toolCalls, ...NOTHING_SPENT, ...failure };
  }

  private runToEnd(begun: TurnProgress, signal: AbortSignal): Promise<TurnResult> {
    const { conversation, window, emit } = this;
    const { model, beforeCall } = this.options;
    return runTurn(begun, {
      ...{ model, conversation, window, signal, emit, beforeCall },
      request: () => this.request(),
      runTools: (uses, stopReason) => this.runTools(uses, stopReason, signal),
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
    stopReason: StopReason,
    signal: AbortSignal,
  ): Promise<ToolCallResults> {
    const {
      model,
      tools,
      isOffered,
      cwd,
      env,
      snapshot,
      permissions,
      hooks,
      betweenTools,
    } = this.options;
    const ran = await runTools(uses, {
      tools,
      isOffered: isOffered ?? (() => true),
      isTruncated: stopReason === "max_tokens" || stopReason === "window_exceeded",
      permissions,
      hooks,
      signal,
      emit: this.emit,
      clock: this.clock,
      betweenTools: betweenTools ?? (async () => "go"),
      context: (toolUseId) => {
        const sourced = snapshot?.();
        return {
          cwd,
          env,
          passSecrets: this.options.passSecrets,
          signal,
          toolUseId,
          seenFiles: this.seenFiles,
          planFile: permissions.planFile,
          background: this.background,
          ...(sourced === undefined ? {} : { snapshot: sourced }),
        };
      },
    });
    this.conversation.addUserContent(model.readsData ? ran.results : ran.results.map(withoutData));
    return ran;
  }
}

/** The value beside a result is for playbooks, and as long as the result itself. */
function withoutData({ data: _, ...block }: ToolResultBlock): ToolResultBlock {
  return block;
}
