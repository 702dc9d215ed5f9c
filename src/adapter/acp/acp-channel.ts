import type { ClientConnection, SessionNotification } from "@agentclientprotocol/sdk";
import { messageOf, TeamError } from "../../errors.ts";
import { type PipedProgram, startPiped } from "../../os/process/piped-program.ts";
import { NO_TOKENS } from "../../schema/tokens.ts";
import { whenLoggedIn } from "../await-login.ts";
import { awaitTools, PIPE_TIMEOUTS } from "../await-tools.ts";
import {
  type Channel,
  type ChannelAnswer,
  type ChannelEvents,
  type ChannelSetup,
  TEAM_SERVER,
} from "../channel.ts";
import { exitOf, lastWords, waitForEnd } from "../last-words.ts";
import { optionArgs } from "../option-args.ts";
import { type Refusal, refusalLine, refusalText } from "../refusals.ts";
import { cleaned } from "../reported-values.ts";
import { notStarted, requireProgram } from "../require-program.ts";
import { startStep } from "../start-step.ts";
import { answerElicitation, type Elicitation, type ElicitationAnswer } from "./acp-questions.ts";
import { type AcpCall, isTeamCall, optionFor } from "./acp-requests.ts";
import { failureOf, initialize, messagesOf, openSession, REFUSAL_ENDS } from "./acp-session.ts";
import { PromptUsage, sessionCostOf } from "./acp-usage.ts";
import { SessionMode } from "./session-mode.ts";
import { ToolCalls } from "./tool-calls.ts";

/** Opens the channel to a CLI that speaks the Agent Client Protocol, version 1, on its stdin and stdout. */
export function openAcpChannel(setup: ChannelSetup, events: ChannelEvents): Channel {
  return new AcpChannel(setup, events);
}

/** Time limit in milliseconds for the start of a CLI: the slowest known takes twelve seconds on an idle machine. */
const START_MS = 120_000;

/** A prompt that the CLI has received and not answered yet. */
interface Prompt {
  /** Reports that the CLI has reacted to the prompt. */
  taken(): void;
  readonly usage: PromptUsage;
}

class AcpChannel implements Channel {
  readonly #setup: ChannelSetup;
  readonly #events: ChannelEvents;
  readonly #calls: ToolCalls;
  #program: PipedProgram | undefined;
  #connection: ClientConnection | undefined;
  #session = "";
  #mode: SessionMode | undefined;
  #prompt: Prompt | undefined;
  /** Aborts when the turn of the newest message is interrupted. One for each message: an interrupted message must not be sent later. */
  #delivery = new AbortController();
  /** Calls refused since the model last acted, and all refusals with a person's reason: the protocol has no field for a reason. */
  #refusals: Refusal[] = [];
  /** The CLI repeats an earlier conversation, which is not reported. */
  #isReplaying = false;
  readonly #ending = new AbortController();
  /** Resolves once the end of the connection is reported. */
  #closing: Promise<void> | undefined;
  #sessionCost: number | undefined;

  constructor(setup: ChannelSetup, events: ChannelEvents) {
    this.#setup = setup;
    this.#events = events;
    this.#calls = new ToolCalls(setup, events);
  }

  get #isEnding(): boolean {
    return this.#ending.signal.aborted;
  }

  async start(conversation: string | undefined): Promise<string | undefined> {
    const { adapter, cwd, env, sandbox } = this.#setup;
    const file = requireProgram(adapter, env);
    const args = [...adapter.args, ...optionArgs(this.#setup)];
    const command = { file, args, env: { ...env, ...adapter.env } };
    const wrapped = (await sandbox?.wrap(command, cwd)) ?? command;
    const program = startPiped(wrapped.file, wrapped.args, { cwd, env: wrapped.env });
    this.#program = program;
    try {
      await startStep(program.ended, START_MS, () => this.#connect(program));
      const signal = this.#ending.signal;
      const session = await whenLoggedIn(adapter, this.#events, signal, () =>
        startStep(program.ended, START_MS, () => this.#begin(conversation)),
      );
      this.#watchEnd(program);
      await awaitTools(this.#setup, this.#events, { timeouts: PIPE_TIMEOUTS, signal });
      return session;
    } catch (error) {
      const isClosed = this.#connection?.signal.aborted === true;
      const how = isClosed ? await exitOf(program.ended, this.#ending.signal) : undefined;
      await this.end();
      if (error instanceof TeamError) throw error;
      const why = how === undefined ? messageOf(error) : `it ended with ${how}`;
      throw notStarted(adapter, `${why}${lastWords(program)}`, { cause: error });
    }
  }

  async #connect(program: PipedProgram): Promise<void> {
    const { client } = await import("@agentclientprotocol/sdk");
    const connection = client({ name: "teams" })
      // Registered first: an earlier handler would delay it, and the answer to a prompt would overtake the last text.
      .onNotification("session/update", ({ params }) => this.#onUpdate(params))
      .onRequest("session/request_permission", ({ params }) => this.#onPermission(params))
      .onRequest("elicitation/create", ({ params }) => this.#onQuestion(params))
      .connect(await messagesOf(program));
    this.#connection = connection;
    await initialize(connection);
  }

  async #begin(conversation: string | undefined): Promise<string | undefined> {
    const connection = this.#connection;
    if (connection === undefined) throw new Error("it is not running");
    this.#isReplaying = true;
    const note = (text: string): void => this.#events.note(text);
    const { sessionId, opened } = await openSession(connection, this.#setup, conversation, note);
    this.#isReplaying = false;
    this.#session = sessionId;
    this.#mode = new SessionMode(connection, this.#setup, { sessionId, opened }, note);
    await this.#mode.follow(this.#delivery.signal);
    return this.#setup.adapter.resume === "none" ? undefined : this.#session;
  }

  async deliver(text: string): Promise<void> {
    const delivery = new AbortController();
    this.#delivery = delivery;
    await this.#mode?.follow(delivery.signal);
    if (delivery.signal.aborted) throw new Error("it was interrupted before it got the message");
    await this.#send(text, delivery.signal);
  }

  async #send(text: string, interrupted: AbortSignal): Promise<void> {
    const connection = this.#connection;
    if (connection === undefined || this.#isEnding) throw new Error("it is not running");
    this.#refusals = [];
    await new Promise<void>((resolve, reject) => {
      const prompt: Prompt = { taken: resolve, usage: new PromptUsage() };
      this.#prompt = prompt;
      const answer = connection.agent.request("session/prompt", {
        sessionId: this.#session,
        prompt: [{ type: "text", text }],
      });
      answer.then(
        (result) => {
          resolve();
          this.#events.spent(prompt.usage.rest(result));
          if (this.#prompt === prompt) this.#end(result.stopReason, interrupted);
        },
        (error: unknown) => {
          if (this.#prompt !== prompt) return resolve();
          this.#prompt = undefined;
          this.#calls.clear();
          // Some CLIs answer an interrupted prompt with an error.
          if (interrupted.aborted) {
            resolve();
            this.#events.turnEnded({ outcome: "interrupted" });
          } else if (connection.signal.aborted) {
            // The end of the CLI is reported first.
            void Promise.resolve(this.#closing).then(() => reject(error));
          } else {
            resolve();
            this.#events.turnEnded({ outcome: "failed", failure: cleaned(messageOf(error)) });
          }
        },
      );
    });
  }

  #end(stopReason: string, interrupted: AbortSignal): void {
    this.#prompt = undefined;
    this.#calls.clear();
    if (this.#refusals.length > 0 && !interrupted.aborted && REFUSAL_ENDS.has(stopReason)) {
      // The end of the CLI, and an interrupt, are reported elsewhere.
      const reasons = refusalText(this.#refusals.map(({ line }) => line));
      this.#send(reasons, interrupted).catch(() => undefined);
      return;
    }
    if (stopReason === "cancelled") this.#events.turnEnded({ outcome: "interrupted" });
    else if (stopReason === "end_turn") this.#events.turnEnded({ outcome: "completed" });
    else this.#events.turnEnded({ outcome: "failed", failure: failureOf(stopReason) });
  }

  async interrupt(): Promise<void> {
    this.#delivery.abort();
    if (this.#prompt === undefined) return;
    await this.#connection?.agent.notify("session/cancel", { sessionId: this.#session });
  }

  async end(): Promise<void> {
    this.#ending.abort();
    this.#connection?.close();
    await this.#program?.end();
  }

  /** Reports the end of a started CLI, or of its connection. */
  #watchEnd(program: PipedProgram): void {
    void program.ended.then((how) => this.#onEnded(how));
    const connected = this.#connection?.signal;
    const onClosed = (): void => {
      this.#closing = this.#onClosed(program, connected?.reason);
    };
    if (connected?.aborted) onClosed();
    else connected?.addEventListener("abort", onClosed, { once: true });
  }

  /** Ends a CLI that has lost its connection, even if its process still runs. Waits briefly for its exit first: that explains more. */
  async #onClosed({ ended }: PipedProgram, reason: unknown): Promise<void> {
    await waitForEnd(ended, this.#ending.signal);
    this.#onEnded(`its connection was lost: ${cleaned(messageOf(reason))}`);
  }

  #onEnded(how: string): void {
    if (this.#isEnding) return;
    this.#ending.abort();
    this.#connection?.close();
    const program = this.#program;
    // The CLI may have left child processes.
    program?.end().catch((error: unknown) => this.#events.note(messageOf(error)));
    this.#events.ended(`${how}${program === undefined ? "" : lastWords(program)}`);
  }

  #onUpdate({ update, sessionId }: SessionNotification): void {
    if (this.#isReplaying || sessionId !== this.#session) return;
    const cost = sessionCostOf(update);
    if (cost !== undefined) this.#addCost(cost);
    this.#mode?.readUpdate(update);
    if (this.#prompt === undefined) return;
    switch (update.sessionUpdate) {
      case "agent_message_chunk":
        this.#prompt.taken();
        this.#keepAnswered();
        this.#events.spent(this.#prompt.usage.addChunk(update));
        if (update.content.type === "text") this.#events.text(update.content.text);
        return;
      case "agent_thought_chunk":
      case "plan":
        this.#prompt.taken();
        return;
      case "tool_call":
      case "tool_call_update":
        this.#prompt.taken();
        if (this.#calls.report(update, update.status ?? undefined)) this.#keepAnswered();
        return;
      default:
        return;
    }
  }

  /** Forgets refusals without a person's reason: the model has continued after them. */
  #keepAnswered(): void {
    this.#refusals = this.#refusals.filter(({ isAnswered }) => isAnswered);
  }

  /** The CLI reports the cost of its whole session; only the difference is news. */
  #addCost(cost: number): void {
    const before = this.#sessionCost ?? (this.#prompt === undefined ? cost : 0);
    this.#sessionCost = cost;
    if (cost > before) this.#events.spent({ usage: NO_TOKENS, costUsd: cost - before });
  }

  /** Asks a person the questions of a form from the CLI or from one of its MCP servers. */
  async #onQuestion(params: Elicitation): Promise<ElicitationAnswer> {
    if (this.#prompt === undefined) return { action: "cancel" };
    this.#prompt.taken();
    const { signal: interrupted } = this.#delivery;
    const answer = await answerElicitation(params, (question) =>
      this.#events.question(question, interrupted),
    );
    if (answer === undefined)
      this.#events.note(
        `${this.#setup.adapter.id} sent a form with fields that teams cannot show, so the form was cancelled`,
      );
    return interrupted.aborted || answer === undefined ? { action: "cancel" } : answer;
  }

  async #onPermission(params: {
    readonly sessionId: string;
    readonly toolCall: AcpCall;
    readonly options: readonly { readonly optionId: string; readonly kind: string }[];
  }): Promise<{ outcome: { outcome: "cancelled" } | { outcome: "selected"; optionId: string } }> {
    const cancelled = { outcome: { outcome: "cancelled" } } as const;
    if (this.#prompt === undefined || params.sessionId !== this.#session) return cancelled;
    this.#prompt.taken();
    const { signal: interrupted } = this.#delivery;
    const call = this.#calls.add(params.toolCall);
    const isOwn = isTeamCall(call) && this.#setup.servers.some(({ name }) => name === TEAM_SERVER);
    const request = { id: call.toolCallId, ...this.#calls.requestOf(call) };
    const answer: ChannelAnswer = isOwn ? { allowed: true } : await this.#events.ask(request, interrupted);
    const { allowed, note, isAnswered = false } = answer;
    if (interrupted.aborted) return cancelled;
    if (!allowed) this.#refusals.push({ line: refusalLine(request.tool, request.summary, note), isAnswered });
    const optionId = optionFor(params.options, allowed);
    if (optionId !== undefined) return { outcome: { outcome: "selected", optionId } };
    if (allowed)
      this.#events.note(
        `${this.#setup.adapter.id} offers no approval for a single call, so the call was refused`,
      );
    return cancelled;
  }
}
