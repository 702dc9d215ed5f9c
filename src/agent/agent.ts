import { type Clock, systemClock } from "../os/clock.ts";
import type { Env } from "../os/env.ts";
import { secretsOf } from "../os/secrets.ts";
import { sumOf, type TokenCount } from "../schema/tokens.ts";
import { BackgroundTasks, type TaskNotice } from "./background.ts";
import { INTERRUPTED, newestTurn, sendable, textOf, toolUsesOf } from "./conversation.ts";
import type { AgentEvent } from "./events.ts";
import type { Hooks } from "./hooks/hooks.ts";
import { maskEvents } from "./mask-events.ts";
import { Memory } from "./memory.ts";
import type {
  ConversationMessage,
  InputOrigin,
  Model,
  ModelRequest,
  StopReason,
  ToolResultBlock,
  ToolUseBlock,
} from "./model/model.ts";
import { addSpent, type ModelAnswer, NOTHING_SPENT, type Spent, streamAnswer } from "./model-call.ts";
import { type AgentPermissions, type RanTools, runTools } from "./tool-calls.ts";
import { toolSpecs } from "./tools/specs.ts";
import type { AnyTool } from "./tools/tool.ts";
import type { Transcript } from "./transcript.ts";
import { isCut } from "./turn-cut.ts";
import { Window } from "./window.ts";

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
  /** Of this turn, every call of the model in it. */
  readonly usage: TokenCount;
  /** US dollars; 0 where no price is known. */
  readonly costUsd: number;
  /** Why it failed, for people. */
  readonly failure?: string;
  /** The tool that ended the turn (ExitPlanMode waits for its verdict). */
  readonly endedBy?: string;
}

export interface AgentOptions {
  readonly model: Model;
  readonly tools: readonly AnyTool[];
  /** Which of them the model is told of, asked before each call of it; all without it. */
  readonly offers?: (tool: AnyTool) => boolean;
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
  goOn(signal: AbortSignal): Promise<TurnResult>;
  /** Runs one turn; one at a time. It rejects only when the conversation cannot be written, never for a model or a tool. */
  run(input: TurnInput, signal: AbortSignal): Promise<TurnResult>;
  /** How much it runs in the background. */
  readonly inBackground: number;
  /** Ends what it runs in the background; between turns, and nothing is run behind it. */
  end(): Promise<void>;
}

type Ending = Pick<TurnResult, "outcome" | "failure" | "endedBy">;

interface TurnSoFar {
  text: string;
  toolCalls: number;
  spent: Spent;
  /** Times that it was told to go on with an answer that was cut. */
  continuations: number;
  /** Times in a row that the server found the conversation too long. */
  refusedAsLong: number;
}

/** Model calls in one turn, after which it is stopped: far above honest work, below a bill that surprises. */
const MAX_ROUNDS = 500;
/** Times that a model whose answer was cut at its length is told to go on. */
const MAX_CONTINUATIONS = 3;
/** Times in a row that a conversation which the server found too long is compacted: the guess of its length was wrong each time. */
const MAX_COMPACTIONS = 3;
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
  readonly restoredKeys: readonly string[];
  private readonly memory: Memory;
  private readonly options: AgentOptions;
  private readonly clock: Clock;
  private readonly emit: (event: AgentEvent) => void;
  private readonly seenFiles = new Map<string, number>();
  private readonly background: BackgroundTasks;
  private readonly window: Window;

  constructor(options: AgentOptions) {
    const { transcript, model, facts = () => "" } = options;
    this.options = options;
    this.clock = options.clock ?? systemClock;
    const secrets = secretsOf(options.env);
    this.emit = maskEvents(options.onEvent, secrets);
    this.background = new BackgroundTasks({ cwd: options.cwd, secrets, onEnd: options.onTaskEnd });
    this.sessionId = transcript.sessionId;
    this.restoredKeys = transcript.restored.newestKeys;
    this.memory = new Memory(transcript);
    const { memory, emit } = this;
    this.window = new Window({ model, memory, facts, emit, request: () => this.request() });
  }

  get messages(): readonly ConversationMessage[] {
    return this.memory.messages;
  }

  get handledKeys(): ReadonlySet<string> {
    return this.memory.handledKeys;
  }

  get tokens(): TokenCount {
    return this.memory.spent.usage;
  }

  get costUsd(): number {
    return this.memory.spent.costUsd;
  }

  get inBackground(): number {
    return this.background.running;
  }

  end(): Promise<void> {
    return this.background.endAll();
  }

  async run(input: TurnInput, signal: AbortSignal): Promise<TurnResult> {
    this.emit({ type: "turn_started", input: input.text });
    const { text, origin, keys } = input;
    this.memory.hear({ role: "user", content: [{ type: "text", text }], origin }, keys);
    await this.options.onInputRecorded?.();
    return this.rounds(signal);
  }

  async goOn(signal: AbortSignal): Promise<TurnResult> {
    const { text, toolCalls, outcome } = newestTurn(this.messages);
    if (outcome === undefined) return this.rounds(signal, { text, toolCalls });
    const failure = outcome === "failed" ? { failure: FAILED_BEFORE } : {};
    return { outcome, text, toolCalls, ...NOTHING_SPENT, ...failure };
  }

  /** The rest of a turn, of which so much is there. */
  private async rounds(
    signal: AbortSignal,
    before: Pick<TurnSoFar, "text" | "toolCalls"> = { text: "", toolCalls: 0 },
  ): Promise<TurnResult> {
    const turn: TurnSoFar = { ...before, spent: NOTHING_SPENT, continuations: 0, refusedAsLong: 0 };
    let ending: Ending | undefined;
    for (let round = 0; round < MAX_ROUNDS && ending === undefined; round += 1) {
      ending = await this.round(turn, signal);
    }
    const { text, toolCalls, spent } = turn;
    const result: TurnResult = { text, toolCalls, ...spent, ...(ending ?? TOO_MANY) };
    this.emit({
      type: "turn_ended",
      outcome: result.outcome,
      ...(result.failure === undefined ? {} : { failure: result.failure }),
    });
    return result;
  }

  /** One call of the model and the tools that it asks for; says how the turn ended, if it did. */
  private async round(turn: TurnSoFar, signal: AbortSignal): Promise<Ending | undefined> {
    if ((await this.options.beforeCall?.(signal)) === "stop") return { outcome: "interrupted" };
    const noRoom = this.window.isNearlyFull ? await this.compact(turn, signal) : undefined;
    if (noRoom !== undefined) return noRoom;
    const answer = await this.callModel(turn, signal);
    turn.text = (answer.message && textOf(answer.message)) || turn.text;
    if (answer.outcome !== "answered") {
      return answer.outcome === "interrupted" ? this.interrupted(signal) : this.failed(turn, answer, signal);
    }
    turn.refusedAsLong = 0;
    const uses = toolUsesOf(answer.message);
    if (uses.length === 0) return this.withoutTools(turn, answer.stopReason, signal);
    const ran = await this.runTools(uses, signal);
    turn.toolCalls += ran.calls;
    if (signal.aborted || ran.stopped) return { outcome: "interrupted" };
    return ran.endedBy === undefined ? undefined : { outcome: "completed", endedBy: ran.endedBy };
  }

  private interrupted(signal: AbortSignal): Ending {
    if (!isCut(signal)) this.note(INTERRUPTED);
    return { outcome: "interrupted" };
  }

  /** A conversation that the server finds too long is compacted, whatever was thought of its length. */
  private async failed(
    turn: TurnSoFar,
    { kind, limit, failure }: Exclude<ModelAnswer, { outcome: "answered" }>,
    signal: AbortSignal,
  ): Promise<Ending | undefined> {
    if (kind !== "too_long" || turn.refusedAsLong === MAX_COMPACTIONS) return { outcome: "failed", failure };
    turn.refusedAsLong += 1;
    this.window.wasTooLong(limit);
    return this.compact(turn, signal);
  }

  private async withoutTools(
    turn: TurnSoFar,
    stopReason: StopReason,
    signal: AbortSignal,
  ): Promise<Ending | undefined> {
    if (stopReason === "refusal") return { outcome: "failed", failure: REFUSED };
    // The server goes on where it paused once it has the same conversation again.
    if (stopReason === "pause_turn") return undefined;
    if (stopReason !== "max_tokens" && stopReason !== "window_exceeded") return { outcome: "completed" };
    if (turn.continuations === MAX_CONTINUATIONS) return { outcome: "failed", failure: TOO_LONG };
    turn.continuations += 1;
    const noRoom = stopReason === "window_exceeded" ? await this.compact(turn, signal) : undefined;
    if (noRoom === undefined) this.note(CONTINUE);
    return noRoom;
  }

  private async callModel(turn: TurnSoFar, signal: AbortSignal): Promise<ModelAnswer> {
    const answer = await streamAnswer(this.options.model, this.request(), signal, this.emit);
    const { message, spent } = answer;
    const isAnswer = answer.outcome === "answered";
    if (message === undefined || (!isAnswer && isCut(signal))) {
      this.memory.pay(spent);
    } else {
      const refused = isAnswer && answer.stopReason === "refusal";
      this.memory.answer(
        refused ? { ...message, refused } : message,
        spent,
        isAnswer ? answer.size : undefined,
      );
      this.emit({ type: "message", message });
    }
    this.count(turn, spent);
    return answer;
  }

  private request(): ModelRequest {
    const { system, tools, offers = () => true, permissions } = this.options;
    return {
      system: typeof system === "string" ? system : system(),
      messages: sendable(this.messages),
      tools: toolSpecs(tools.filter(offers)),
      ...(permissions.planFile === undefined ? {} : { planFile: permissions.planFile }),
    };
  }

  private count(turn: TurnSoFar, spent: Spent): void {
    if (sumOf(spent.usage) === 0) return;
    turn.spent = addSpent(turn.spent, spent);
    this.emit({ type: "spent", ...spent });
  }

  private async compact(turn: TurnSoFar, signal: AbortSignal): Promise<Ending | undefined> {
    const noRoom = await this.window.compact(signal, (spent) => {
      this.memory.pay(spent);
      this.count(turn, spent);
    });
    return noRoom?.outcome === "interrupted" ? this.interrupted(signal) : noRoom;
  }

  private async runTools(uses: readonly ToolUseBlock[], signal: AbortSignal): Promise<RanTools> {
    const { model, tools, cwd, env, snapshot, permissions, hooks, betweenTools } = this.options;
    const ran = await runTools(uses, {
      tools,
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
          background: this.background,
          ...(sourced === undefined ? {} : { snapshot: sourced }),
        };
      },
    });
    this.memory.tell(model.readsData ? ran.results : ran.results.map(withoutData));
    return ran;
  }

  private note(text: string): void {
    this.memory.tell([{ type: "text", text }]);
  }
}

/** The value beside a result is for playbooks, and as long as the result itself. */
function withoutData({ data: _, ...block }: ToolResultBlock): ToolResultBlock {
  return block;
}
