import { randomUUID } from "node:crypto";
import { messageOf } from "../../errors.ts";
import { pause } from "../../os/clock.ts";
import type { Env } from "../../os/env.ts";
import type { Playbook, PlaybookTurn } from "../../schema/playbook.ts";
import { NO_TOKENS, type TokenCount } from "../../schema/tokens.ts";
import { failureKind, isRetryable } from "../model/failures.ts";
import {
  type AssistantBlock,
  type AssistantMessage,
  type Model,
  ModelError,
  type ModelEvent,
  type ToolUseBlock,
} from "../model/model.ts";
import { type ChosenTurn, chooseTurn, MAX_ERRORS, openShutdown } from "./choose-turn.ts";
import { playbookLookup } from "./placeholder-values.ts";
import { fillInput, fillText, type Lookup } from "./placeholders.ts";

interface ScriptedOptions {
  readonly playbook: Playbook;
  /** The agent whose list is played; its turns go before those of the list `*`. */
  readonly agent: string;
  readonly cwd: string;
  readonly env: Env;
  /** Every delay is divided by this number. Default: 1. */
  readonly speed?: number;
}

/** Milliseconds between two pieces of a text, and the maximum number of pieces: readable in a pane, and over soon. */
const PIECE_MS = 8;
const MAX_PIECES = 50;
/** Milliseconds between a transient error and the next attempt. */
const RETRY_MS = 500;

type Wait = (ms: number) => Promise<void>;

/** Returns a model without network that plays a playbook; the conversation shows which turns were played. */
export function scriptedModel(options: ScriptedOptions): Model {
  const { playbook, agent, speed = 1 } = options;
  return {
    name: "scripted",
    readsData: true,
    async *stream(request, signal): AsyncGenerator<ModelEvent> {
      const wait: Wait = async (ms) => {
        if (ms > 0) await pause(ms / speed, signal);
        signal.throwIfAborted();
      };
      await wait(0);
      const choice = chooseTurn(playbook, agent, request.messages);
      if (choice === undefined) {
        yield messageEvent(shutdownAnswer(openShutdown(playbook, request.messages)));
        return;
      }
      const turn = `${choice.list}/${choice.index}`;
      yield { type: "begun", turn };
      yield* failFirst(choice, wait);
      await wait(choice.turn.delayMs ?? 0);
      const content = fill(choice, playbookLookup(playbook, request, options));
      yield* streamText(content, wait);
      // A message without tool calls ends the turn, so it must also answer an open shutdown request.
      const open = content.some(isToolUse)
        ? undefined
        : openShutdown(playbook, request.messages, choice.turn);
      yield messageEvent([...content, ...shutdownAnswer(open)], turn, choice.turn.usage);
    },
  };
}

/** Approves a shutdown request that no turn of the playbook answers. */
function shutdownAnswer(requestId: string | undefined): AssistantBlock[] {
  if (requestId === undefined) return [];
  return [toolUse("SendMessage", { type: "shutdown_response", request_id: requestId, approve: true })];
}

async function* failFirst({ turn, errors }: ChosenTurn, wait: Wait): AsyncGenerator<ModelEvent> {
  const { error } = turn;
  if (error === undefined) return;
  const kind = failureKind(error.status);
  for (let attempt = 1; attempt <= errors; attempt += 1) {
    const reason = `${error.status} ${error.type}`;
    if (!isRetryable(kind) || attempt === MAX_ERRORS) throw new ModelError(kind, reason, error.status);
    yield { type: "retry", attempt, delayMs: RETRY_MS, status: error.status, reason };
    await wait(RETRY_MS);
  }
}

/** @throws ModelError that names the turn in the playbook and the placeholder without a value */
function fill({ turn, list, index }: ChosenTurn, lookup: Lookup): AssistantBlock[] {
  try {
    return [
      ...(turn.say ? [{ type: "text", text: fillText(turn.say, lookup) } as const] : []),
      ...(turn.tools ?? []).map(({ name, input }) => toolUse(name, fillInput(name, input, lookup))),
    ];
  } catch (error) {
    const place = `agent ${JSON.stringify(list)}, turn ${index}`;
    throw new ModelError("invalid_request", `The playbook's ${place}: ${messageOf(error)}.`);
  }
}

function isToolUse({ type }: AssistantBlock): boolean {
  return type === "tool_use";
}

function toolUse(name: string, input: unknown): ToolUseBlock {
  return { type: "tool_use", id: `toolu_${randomUUID().replaceAll("-", "")}`, name, input };
}

async function* streamText(content: readonly AssistantBlock[], wait: Wait): AsyncGenerator<ModelEvent> {
  const text = content[0]?.type === "text" ? content[0].text : "";
  const words = text.match(/\s*\S+\s*/g) ?? (text === "" ? [] : [text]);
  const perPiece = Math.ceil(words.length / MAX_PIECES);
  for (let i = 0; i < words.length; i += perPiece) {
    yield { type: "text", text: words.slice(i, i + perPiece).join("") };
    await wait(PIECE_MS);
  }
}

function messageEvent(
  content: readonly AssistantBlock[],
  turn?: string,
  usage?: PlaybookTurn["usage"],
): ModelEvent {
  const message: AssistantMessage = {
    role: "assistant",
    content,
    ...(turn === undefined ? {} : { turn }),
  };
  const tokens: TokenCount = { ...NO_TOKENS, ...usage };
  const stopReason = content.some(isToolUse) ? "tool_use" : "end_turn";
  return { type: "message", message, stopReason, usage: tokens };
}
