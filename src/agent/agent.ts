import { type Clock, systemClock } from "../os/clock.ts";
import type { Env } from "../os/env.ts";
import { secretsOf } from "../os/secrets.ts";
import { NO_TOKENS, type TokenCount } from "../schema/status.ts";
import { closeDangling, INTERRUPTED, newestTurn, textOf, toolUsesOf } from "./conversation.ts";
import type { AgentEvent } from "./events.ts";
import { maskEvents } from "./mask-events.ts";
import type {
  AssistantMessage,
  ConversationMessage,
  InputOrigin,
  Model,
  StopReason,
  ToolUseBlock,
  UserMessage,
} from "./model/model.ts";
import { type ModelAnswer, streamAnswer } from "./model-call.ts";
import { type AgentPermissions, type RanTools, runTools } from "./tool-calls.ts";
import { toolSpecs } from "./tools/specs.ts";
import type { AnyTool } from "./tools/tool.ts";
import { addTokens, type Transcript } from "./transcript.ts";
import { isCut } from "./turn-cut.ts";

/** One turn's input: what the model reads, where it came from, and the inbox keys of the messages in it. */
export interface TurnInput {
  readonly text: string;
  readonly origin: InputOrigin;
  /** Recorded with the input: a message that is named here was received, also after a restart. */
  readonly keys: readonly string[];
}

export interface TurnResult {
  readonly outcome: "completed" | "interrupted" | "failed";
  /** The last text of the model in this turn. */
  readonly text: string;
  readonly toolCalls: number;
  /** Of this turn. */
  readonly usage: TokenCount;
  /** Why it failed, for people. */
  readonly failure?: string;
  /** The tool that ended the turn (ExitPlanMode waits for its verdict). */
  readonly endedBy?: string;
}

export interface AgentOptions {
  readonly model: Model;
  readonly tools: readonly AnyTool[];
  /** Asked before each call of the model if it is a function. */
  readonly system: string | (() => string);
  readonly transcript: Transcript;
  readonly cwd: string;
  readonly env: Env;
  /** Shell snapshot that Bash sources, once there is one. */
  readonly snapshot?: () => string | undefined;
  readonly permissions: AgentPermissions;
  readonly onEvent: (event: AgentEvent) => void;
  /** The input is on the disk, and no model has been called on it: the messages in it may be marked read. */
  readonly onInputRecorded?: () => Promise<void>;
  /** Asked before each tool call but the first, and before the model is called again: `stop` ends the turn there. */
  readonly betweenTools?: () => Promise<"go" | "stop">;
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
  /**
   * Goes on with that turn, without new input, where the model has not had its last word; says how the turn ended. Before the
   * first `run`, and under its rules.
   */
  goOn(signal: AbortSignal): Promise<TurnResult>;
  /** Runs one turn; one at a time. It rejects only when the conversation cannot be written, never for a model or a tool. */
  run(input: TurnInput, signal: AbortSignal): Promise<TurnResult>;
}

type Ending = Pick<TurnResult, "outcome" | "failure" | "endedBy">;

interface TurnSoFar {
  text: string;
  toolCalls: number;
  usage: TokenCount;
  /** Times that it was told to go on with an answer that was cut. */
  continuations: number;
}

/** Model calls in one turn, after which it is stopped: far above honest work, below a bill that surprises. */
const MAX_ROUNDS = 500;
/** Times that a model whose answer was cut at its length is told to go on. */
const MAX_CONTINUATIONS = 3;

const TOO_MANY: Ending = {
  outcome: "failed",
  failure: `The turn was stopped after ${MAX_ROUNDS} calls of the model.`,
};
const TOO_LONG = `The answer was cut at the model's longest ${MAX_CONTINUATIONS + 1} times.`;
const REFUSED = "The model refused to answer.";
const FAILED_BEFORE = "The turn had failed when the agent was started again.";
const CONTINUE = "Your answer was cut at its longest. Go on exactly where it ended.";

export function createAgent(options: AgentOptions): Agent {
  return new ConversationAgent(options);
}

class ConversationAgent implements Agent {
  readonly sessionId: string;
  readonly messages: ConversationMessage[];
  readonly handledKeys: Set<string>;
  readonly restoredKeys: readonly string[];
  tokens: TokenCount;
  private readonly options: AgentOptions;
  private readonly clock: Clock;
  private readonly emit: (event: AgentEvent) => void;
  private readonly seenFiles = new Map<string, number>();

  constructor(options: AgentOptions) {
    const { transcript } = options;
    this.options = options;
    this.clock = options.clock ?? systemClock;
    this.emit = maskEvents(options.onEvent, secretsOf(options.env));
    this.sessionId = transcript.sessionId;
    this.messages = [...transcript.restored.messages];
    this.handledKeys = new Set(transcript.restored.handledKeys);
    this.restoredKeys = transcript.restored.newestKeys;
    this.tokens = transcript.restored.tokens;
  }

  async run(input: TurnInput, signal: AbortSignal): Promise<TurnResult> {
    this.emit({ type: "turn_started", input: input.text });
    this.record(
      { role: "user", content: [{ type: "text", text: input.text }], origin: input.origin },
      input.keys,
    );
    for (const key of input.keys) this.handledKeys.add(key);
    await this.options.onInputRecorded?.();
    return this.rounds(signal);
  }

  async goOn(signal: AbortSignal): Promise<TurnResult> {
    const { text, toolCalls, outcome } = newestTurn(this.messages);
    if (outcome === undefined) return this.rounds(signal, { text, toolCalls });
    const failure = outcome === "failed" ? { failure: FAILED_BEFORE } : {};
    return { outcome, text, toolCalls, usage: NO_TOKENS, ...failure };
  }

  /** The rest of a turn, of which so much is there. */
  private async rounds(
    signal: AbortSignal,
    before: Pick<TurnSoFar, "text" | "toolCalls"> = { text: "", toolCalls: 0 },
  ): Promise<TurnResult> {
    const turn: TurnSoFar = { ...before, usage: NO_TOKENS, continuations: 0 };
    let ending: Ending | undefined;
    for (let round = 0; round < MAX_ROUNDS && ending === undefined; round += 1) {
      ending = await this.round(turn, signal);
    }
    const { text, toolCalls, usage } = turn;
    const result: TurnResult = { text, toolCalls, usage, ...(ending ?? TOO_MANY) };
    this.emit({
      type: "turn_ended",
      outcome: result.outcome,
      ...(result.failure === undefined ? {} : { failure: result.failure }),
    });
    return result;
  }

  /** One call of the model and the tools that it asks for; says how the turn ended, if it did. */
  private async round(turn: TurnSoFar, signal: AbortSignal): Promise<Ending | undefined> {
    const answer = await this.callModel(signal);
    turn.text = (answer.message && textOf(answer.message)) || turn.text;
    turn.usage = addTokens(turn.usage, answer.usage);
    if (answer.outcome !== "answered") {
      if (answer.outcome === "failed") return { outcome: "failed", failure: answer.failure };
      if (!isCut(signal)) this.note(INTERRUPTED);
      return { outcome: "interrupted" };
    }
    const uses = toolUsesOf(answer.message);
    if (uses.length === 0) return this.withoutTools(turn, answer.stopReason);
    const ran = await this.runTools(uses, signal);
    turn.toolCalls += ran.calls;
    if (signal.aborted || ran.stopped) return { outcome: "interrupted" };
    return ran.endedBy === undefined ? undefined : { outcome: "completed", endedBy: ran.endedBy };
  }

  private withoutTools(turn: TurnSoFar, stopReason: StopReason): Ending | undefined {
    if (stopReason === "refusal") return { outcome: "failed", failure: REFUSED };
    if (stopReason !== "max_tokens") return { outcome: "completed" };
    if (turn.continuations === MAX_CONTINUATIONS) return { outcome: "failed", failure: TOO_LONG };
    turn.continuations += 1;
    this.note(CONTINUE);
    return undefined;
  }

  private async callModel(signal: AbortSignal): Promise<ModelAnswer> {
    const { model, system, tools, permissions } = this.options;
    const request = {
      system: typeof system === "string" ? system : system(),
      messages: closeDangling(this.messages),
      tools: toolSpecs(tools),
      ...(permissions.planFile === undefined ? {} : { planFile: permissions.planFile }),
    };
    const answer = await streamAnswer(model, request, signal, this.emit);
    if (answer.message !== undefined && !(answer.outcome === "interrupted" && isCut(signal))) {
      this.record(answer.message, [], answer.usage);
      this.tokens = addTokens(this.tokens, answer.usage);
      this.emit({ type: "message", message: answer.message, usage: answer.usage });
    }
    return answer;
  }

  private async runTools(uses: readonly ToolUseBlock[], signal: AbortSignal): Promise<RanTools> {
    const { tools, cwd, env, snapshot, permissions, betweenTools } = this.options;
    const ran = await runTools(uses, {
      tools,
      permissions,
      signal,
      emit: this.emit,
      clock: this.clock,
      betweenTools: betweenTools ?? (async () => "go"),
      context: (toolUseId) => {
        const sourced = snapshot?.();
        return {
          cwd,
          env,
          signal,
          toolUseId,
          seenFiles: this.seenFiles,
          ...(sourced === undefined ? {} : { snapshot: sourced }),
        };
      },
    });
    this.record({ role: "user", content: ran.results });
    return ran;
  }

  private note(text: string): void {
    this.record({ role: "user", content: [{ type: "text", text }] });
  }

  /** On the disk before anything follows from it. */
  private record(
    message: UserMessage | AssistantMessage,
    keys: readonly string[] = [],
    usage = NO_TOKENS,
  ): void {
    const { transcript } = this.options;
    if (message.role === "assistant") transcript.append({ type: "assistant", message, usage });
    else transcript.append({ type: "user", message, ...(keys.length === 0 ? {} : { keys }) });
    this.messages.push(message);
  }
}
