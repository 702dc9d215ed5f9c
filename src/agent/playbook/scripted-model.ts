import { randomUUID } from "node:crypto";
import { messageOf } from "../../errors.ts";
import { pause } from "../../os/clock.ts";
import type { Env } from "../../os/env.ts";
import type { Playbook, Turn } from "../../schema/playbook.ts";
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
import { type Choice, chooseTurn, MAX_ERRORS, openShutdown } from "./choose-turn.ts";
import { playbookLookup } from "./placeholder-values.ts";
import { fillInput, fillText, type Lookup } from "./placeholders.ts";

interface ScriptedOptions {
  readonly playbook: Playbook;
  /** Whose list is played, before the list `*`. */
  readonly agent: string;
  readonly cwd: string;
  readonly env: Env;
  /** How much faster than life: every delay is divided by it. */
  readonly speed?: number;
}

/** Milliseconds between two pieces of a text, and into how many it is cut at most: readable in a pane, and soon over. */
const PIECE_MS = 8;
const MAX_PIECES = 50;
/** Milliseconds behind an error that passes, before the next try. */
const RETRY_MS = 500;

type Wait = (ms: number) => Promise<void>;

/** The model that needs no network: it plays the turns of a playbook, as the conversation shows how far it is. */
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
        yield whole(shutdownAnswer(openShutdown(playbook, request.messages)));
        return;
      }
      const turn = `${choice.list}/${choice.index}`;
      yield { type: "begun", turn };
      yield* failing(choice, wait);
      await wait(choice.turn.delayMs ?? 0);
      const content = fill(choice, playbookLookup(playbook, request, options));
      yield* speaking(content, wait);
      // With its last word in this turn: it would be left without an answer.
      const open = content.some(isToolUse)
        ? undefined
        : openShutdown(playbook, request.messages, choice.turn);
      yield whole([...content, ...shutdownAnswer(open)], turn, choice.turn.usage);
    },
  };
}

/** A shutdown request that nothing of the playbook is about is approved. */
function shutdownAnswer(requestId: string | undefined): AssistantBlock[] {
  if (requestId === undefined) return [];
  return [toolUse("SendMessage", { type: "shutdown_response", request_id: requestId, approve: true })];
}

async function* failing({ turn, errors }: Choice, wait: Wait): AsyncGenerator<ModelEvent> {
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

/** @throws ModelError that names the place in the playbook and the placeholder that stands for nothing */
function fill({ turn, list, index }: Choice, lookup: Lookup): AssistantBlock[] {
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

async function* speaking(content: readonly AssistantBlock[], wait: Wait): AsyncGenerator<ModelEvent> {
  const said = content[0]?.type === "text" ? content[0].text : "";
  const words = said.match(/\s*\S+\s*/g) ?? (said === "" ? [] : [said]);
  const perPiece = Math.ceil(words.length / MAX_PIECES);
  for (let i = 0; i < words.length; i += perPiece) {
    yield { type: "text", text: words.slice(i, i + perPiece).join("") };
    await wait(PIECE_MS);
  }
}

function whole(content: readonly AssistantBlock[], turn?: string, usage?: Turn["usage"]): ModelEvent {
  const message: AssistantMessage = {
    role: "assistant",
    content,
    ...(turn === undefined ? {} : { turn }),
  };
  const tokens: TokenCount = { ...NO_TOKENS, ...usage };
  const stopReason = content.some(isToolUse) ? "tool_use" : "end_turn";
  return { type: "message", message, stopReason, usage: tokens };
}
