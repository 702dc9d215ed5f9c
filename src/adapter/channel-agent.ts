import type { Agent, TurnInput } from "../agent/agent.ts";
import { NOTHING_SPENT, type Spent } from "../agent/conversation/call-model.ts";
import { Conversation } from "../agent/conversation/conversation.ts";
import { type AgentEvent, maskEvents } from "../agent/events.ts";
import { newestTurn } from "../agent/model/messages.ts";
import type { ConversationMessage } from "../agent/model/model.ts";
import type { TurnResult } from "../agent/turn/turn.ts";
import { isProcessEnding } from "../agent/turn/turn-abort.ts";
import { messageOf, TeamError } from "../errors.ts";
import { secretsOf } from "../os/redact.ts";
import { sumOf, type TokenCount } from "../schema/tokens.ts";
import type {
  Channel,
  ChannelAnswer,
  ChannelDialog,
  ChannelEvents,
  ChannelQuestion,
  ChannelRequest,
  ChannelTurnEnd,
} from "./channel.ts";
import type { ChannelAgentOptions } from "./channel-agent-options.ts";
import { permitRequest } from "./permit-request.ts";
import { cutResult } from "./reported-values.ts";
import { CurrentTurn } from "./turns/current-turn.ts";
import { deliverText } from "./turns/deliver-text.ts";
import { followTurn, interruptOnAbort } from "./turns/interrupt-turn.ts";
import { hasTakenInput, inputMessage, missedTexts, newestTexts } from "./turns/missed-inputs.ts";
import { CONTINUE, CONTINUE_WITH_TEXT, NEVER_BEGAN, OpenTurn, recordEnd } from "./turns/open-turn.ts";
import { TurnPauses } from "./turns/turn-pauses.ts";

/**
 * A third-party CLI as an agent: the channel runs its turns, and this class keeps their inputs and results in a conversation of
 * ours, so that delivery, restart and idle notices work as for every agent.
 */
export class ChannelAgent implements Agent, ChannelEvents {
  readonly sessionId: string;
  readonly restoredKeys: readonly string[];
  readonly runningInBackground = 0;
  readonly hidesTurnEnds: boolean;
  readonly #conversation: Conversation;
  readonly #options: ChannelAgentOptions;
  readonly #emit: (event: AgentEvent) => void;
  readonly #tools = new Map<string, string>();
  #channel: Channel | undefined;
  readonly #turns = new CurrentTurn();
  /** The newest turn that a person began. */
  #ownTurn: OpenTurn | undefined;
  #failure: TeamError | undefined;
  /** The CLI has ended without being asked to. */
  #hasEnded = false;
  readonly #pauses: TurnPauses;
  /** The CLI has read who it is, and what its team is. */
  #isIntroduced = false;

  constructor(options: ChannelAgentOptions) {
    const { transcript } = options;
    this.#options = options;
    this.hidesTurnEnds = options.hidesTurnEnds;
    this.#emit = maskEvents(options.onEvent, secretsOf(options.env));
    this.#conversation = new Conversation(transcript, this.#emit);
    this.#pauses = new TurnPauses(options, () => this.#channel);
    this.sessionId = transcript.sessionId;
    this.restoredKeys = transcript.restored.newestKeys;
  }

  /**
   * Starts the CLI. Call it before the first turn.
   * @param open returns the channel, which reports to this agent
   * @param conversation the CLI's id of an earlier conversation
   * @returns the CLI's id of its conversation
   */
  async start(
    open: (events: ChannelEvents) => Channel,
    conversation: string | undefined,
  ): Promise<string | undefined> {
    this.#channel = open(this);
    const continued = await this.#channel.start(conversation);
    const isContinued = continued !== undefined && continued === conversation;
    this.#isIntroduced = isContinued && hasTakenInput(this.messages);
    return continued;
  }

  get messages(): readonly ConversationMessage[] {
    return this.#conversation.messages;
  }

  get handledKeys(): ReadonlySet<string> {
    return this.#conversation.handledKeys;
  }

  get tokens(): TokenCount {
    return this.#conversation.spent.usage;
  }

  get costUsd(): number {
    return this.#conversation.spent.costUsd;
  }

  addCost(spent: Spent): void {
    this.#conversation.addCost(spent);
  }

  endBackgroundTask(): void {
    // A CLI reports no background tasks.
  }

  async end(): Promise<void> {
    await this.#channel?.end();
    // A CLI that was ended does not report the end of its turn.
    this.#ownTurn?.settle({ outcome: "interrupted" });
    await this.#conversation.close();
  }

  async run(input: TurnInput, signal: AbortSignal): Promise<TurnResult> {
    const { text, keys, isLast = false } = input;
    const introduction = this.#isIntroduced ? [] : [this.#options.instructions()];
    const whole = [...introduction, ...missedTexts(this.messages), text].join("\n\n");
    return this.#run(whole, signal, isLast, async (isTaken) => {
      this.#isIntroduced ||= isTaken;
      this.#conversation.addInput(inputMessage(input, isTaken), keys);
      await this.#conversation.inputWritten(signal, () => this.#options.onInputRecorded(keys));
    });
  }

  async resumeTurn(signal: AbortSignal): Promise<TurnResult> {
    const { text, toolCalls, outcome } = newestTurn(this.messages);
    if (outcome !== undefined) return { outcome, text, toolCalls, ...NOTHING_SPENT };
    // The CLI never got the text of this turn, whose end was not recorded. The next turn begins with that text.
    if (missedTexts(this.messages).length > 0) return recordEnd(this.#conversation, NEVER_BEGAN, signal);
    if (this.#isIntroduced || this.hidesTurnEnds)
      return this.#run(CONTINUE, signal, false, async () => undefined);
    const whole = [this.#options.instructions(), CONTINUE_WITH_TEXT, ...newestTexts(this.messages)];
    return this.#run(whole.join("\n\n"), signal, false, async (isTaken) => {
      this.#isIntroduced ||= isTaken;
    });
  }

  /**
   * @param onInput called once the CLI has taken the text, or its turn has ended earlier. If the CLI crashes, or this process ends, its
   * messages stay unread and are delivered again
   */
  async #run(
    text: string,
    signal: AbortSignal,
    isLast: boolean,
    onInput: (isTaken: boolean) => Promise<void>,
  ): Promise<TurnResult> {
    if (this.#failure !== undefined) throw this.#failure;
    const turn = this.#open(text);
    this.#turns.waiting = turn;
    const running = {
      turn,
      pauses: this.#pauses,
      channel: this.#channel,
      isIdle: () => this.#turns.isIdle(turn),
    };
    const stopWaiting = interruptOnAbort(running, signal, this.#options);
    let isConfirmed = false;
    const deliver: Channel["deliver"] = async (...given) => {
      const undo = this.#turns.begin(turn);
      await this.#channel?.deliver(...given).catch((error: unknown) => {
        undo();
        throw error;
      });
      isConfirmed = true;
    };
    try {
      const isAccepted = await deliverText({ deliver }, { turn, text, isLast, signal }, this.#options);
      const isTaken = isAccepted && (isConfirmed || !this.#hasEnded);
      if (!isConfirmed && this.#failure !== undefined) throw this.#failure;
      const isKept = !isTaken && (this.hidesTurnEnds || isProcessEnding(signal));
      if (!isKept) await onInput(isTaken);
      const result = await turn.result;
      if (this.#failure !== undefined) throw this.#failure;
      if (!isKept) return await recordEnd(this.#conversation, result, signal);
      // A text that the program refused is delivered again at its next start.
      if (result.outcome !== "failed") this.#options.onInputKept();
      return result;
    } catch (error) {
      if (this.#failure !== undefined) throw this.#failure;
      turn.settle({ outcome: signal.aborted ? "interrupted" : "failed", failure: messageOf(error) });
      return await turn.result;
    } finally {
      this.#turns.waiting = undefined;
      stopWaiting();
    }
  }

  #open(input: string): OpenTurn {
    const turn = new OpenTurn(({ outcome, failure }) => {
      this.#turns.ended(turn);
      this.#emit({ type: "turn_ended", outcome, ...(failure === undefined ? {} : { failure }) });
    });
    this.#emit({ type: "turn_started", input });
    return turn;
  }

  turnStarted(): void {
    // A text that a person adds during our turn belongs to it.
    if (this.#turns.open !== undefined) return;
    const turn = this.#open("");
    this.#turns.begin(turn);
    this.#ownTurn = turn;
    const running = { turn, pauses: this.#pauses, channel: this.#channel };
    this.#options.onOwnTurn((signal) => followTurn(running, signal, this.#options));
  }

  text(piece: string): void {
    this.#turns.open?.addText(piece);
    this.#emit({ type: "text", text: piece });
  }

  toolStarted({ id, tool, summary }: Parameters<ChannelEvents["toolStarted"]>[0]): void {
    this.#turns.open?.addToolCall();
    this.#tools.set(id, tool);
    this.#emit({ type: "tool_started", id, tool, summary });
  }

  toolEnded({ id, content, isError }: Parameters<ChannelEvents["toolEnded"]>[0]): void {
    const tool = this.#tools.get(id);
    if (tool === undefined) return;
    this.#tools.delete(id);
    this.#emit({ type: "tool_ended", id, tool, content: cutResult(content), isError, ms: 0 });
  }

  async ask(request: ChannelRequest, closed: AbortSignal): Promise<ChannelAnswer> {
    const turn = this.#turns.open;
    if (turn === undefined) return { allowed: false, note: "The turn of this request has ended." };
    const { cwd, env, sandbox, hooks, permissions } = this.#options;
    try {
      const signal = AbortSignal.any([closed, turn.closed]);
      const rights = { hooks, permissions, emit: this.#emit };
      return await permitRequest(request, { cwd, env, sandbox, signal, ...rights });
    } catch (error) {
      return { allowed: false, note: messageOf(error) };
    }
  }

  async question(question: ChannelQuestion, closed: AbortSignal): Promise<string | undefined> {
    const turn = this.#turns.open;
    if (turn === undefined) return undefined;
    const signal = AbortSignal.any([closed, turn.closed]);
    try {
      return await this.#options.askQuestion(question, signal);
    } catch (error) {
      if (!signal.aborted) this.note(messageOf(error));
      return undefined;
    }
  }

  blocked(dialog: ChannelDialog | undefined): void {
    this.#options.onDialog(dialog);
  }

  withoutTools(remedy: string): void {
    this.#options.onWithoutTools(remedy);
  }

  spent(spent: Spent): void {
    if (sumOf(spent.usage) === 0 && spent.costUsd === 0) return;
    if (this.#turns.open === undefined) this.#conversation.addCost(spent);
    else this.#turns.open.addSpent(spent);
    this.#emit({ type: "spent", ...spent });
    if (this.#turns.open !== undefined) void this.#pauses.spent(this.#turns.open);
  }

  turnEnded(end: ChannelTurnEnd): void {
    if (end.outcome === "completed") void this.#options.limits.passed();
    const turn = this.#turns.open;
    if (turn !== undefined && !this.#pauses.takes(end, turn)) turn.settle(end);
  }

  alerted(text: string): void {
    this.#options.onAlert(text);
  }

  async interruptUnseen(): Promise<void> {
    await this.#channel?.interrupt();
  }

  ended(reason: string | undefined): void {
    const { cli, onEnd } = this.#options;
    this.#hasEnded = true;
    if (reason === undefined) {
      this.#turns.settle({ outcome: "interrupted" });
      onEnd(undefined);
      return;
    }
    const failure = new TeamError("SPAWN_FAILED", `${cli} has ended: ${reason}`, {
      hint: "Unread messages and the conversation are kept. Start it again: press r and Enter in its pane, or run teams resume.",
    });
    this.#failure = failure;
    this.#turns.settle({ outcome: "failed", failure: failure.message });
    onEnd(failure);
  }

  note(text: string): void {
    this.#options.note(text);
  }
}
