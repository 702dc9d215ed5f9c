import type { Playbook, Turn } from "../../schema/playbook.ts";
import { failureKind, isRetryable } from "../model/failures.ts";
import { messageText, toolResultsOf, toolUsesOf } from "../model/messages.ts";
import type { ConversationMessage, InputOrigin, ToolUseBlock } from "../model/model.ts";
import { hasHeard, unanswered } from "./heard-messages.ts";
import { turnAt } from "./placeholder-values.ts";

/** Failed tries of one call, after which an error that might pass is given up. */
export const MAX_ERRORS = 8;

/** A turn of a playbook that is to be played now. */
export interface Choice {
  readonly turn: Turn;
  /** The list it stands in: an agent's name, or `*`. */
  readonly list: string;
  readonly index: number;
  /** How many of its errors are still to come. */
  readonly errors: number;
}

/**
 * The first turn that has not been played and whose `on` fits, of the agent's own list, then of `*`. A shutdown request
 * is only for turns that ask for it with `on` or answer it: the others would swallow it. An answer in words alone ends what
 * is done now, so that it waits for those that do something about other messages that have come.
 */
export function chooseTurn(
  playbook: Playbook,
  agent: string,
  messages: readonly ConversationMessage[],
): Choice | undefined {
  const choices = choicesOf(playbook, agent, messages);
  const [first] = choices;
  if (first === undefined || first.turn.tools !== undefined) return first;
  const acts = choices.find(({ turn }) => turn.on?.heard !== undefined && turn.tools !== undefined);
  // A turn about the result of just now goes before one that only acknowledges what came with something else long ago.
  return acts ?? choices.find(({ turn }) => turn.on?.tool !== undefined) ?? first;
}

function choicesOf(playbook: Playbook, agent: string, messages: readonly ConversationMessage[]): Choice[] {
  const newest: Newest = {
    inputs: newestInputs(messages),
    tools: newestTools(messages),
    open: unanswered(playbook, messages),
  };
  const choices: Choice[] = [];
  const shutdown = originOf(messages.at(-1))?.shutdown !== undefined;
  for (const list of new Set([agent, "*"])) {
    const turns = Object.hasOwn(playbook.agents, list) ? (playbook.agents[list] ?? []) : [];
    for (const [index, turn] of turns.entries()) {
      const errors = errorsLeft(turn, attempts(messages, `${list}/${index}`));
      if (errors === undefined || !fits(turn, newest)) continue;
      if (shutdown && turn.on === undefined && !(turn.tools ?? []).some(answersShutdown)) continue;
      choices.push({ turn, list, index, errors });
    }
  }
  return choices;
}

interface Attempts {
  readonly played: number;
  readonly unfinished: number;
}

function attempts(messages: readonly ConversationMessage[], position: string): Attempts {
  let played = 0;
  let unfinished = 0;
  for (const message of messages) {
    if (message.role !== "assistant" || message.turn !== position) continue;
    if (message.unfinished) unfinished += 1;
    else played += 1;
  }
  return { played, unfinished };
}

/** How many errors of a turn come before it plays; undefined when the turn is over. */
function errorsLeft(turn: Turn, { played, unfinished }: Attempts): number | undefined {
  const { error, repeat = false } = turn;
  const says = turn.say !== undefined || turn.tools !== undefined;
  const times = error === undefined ? 0 : (error.times ?? 1);
  if (played > 0) return repeat ? 0 : undefined;
  if (unfinished === 0) return times;
  if (error === undefined) return repeat ? 0 : undefined;
  const used = unfinished * (isRetryable(failureKind(error.status)) ? MAX_ERRORS : 1);
  if (used < times) return times - used;
  if (says) return 0;
  return repeat ? times : undefined;
}

/** What `on` is held against: what the model reads of the newest input, and a message as it was sent. */
function newestInputs(messages: readonly ConversationMessage[]): string[] {
  const newest = messages.at(-1);
  if (newest?.role !== "user") return [""];
  const results = toolResultsOf(newest).map((block) => block.content);
  const whole = [...results, messageText(newest)].filter((text) => text !== "").join("\n");
  return newest.origin === undefined ? [whole] : [whole, newest.origin.text];
}

/** The tools whose results the newest input holds. */
function newestTools(messages: readonly ConversationMessage[]): ReadonlySet<string> {
  const [call, answer] = messages.slice(-2);
  if (call?.role !== "assistant" || answer?.role !== "user") return new Set();
  const answered = new Set(toolResultsOf(answer).map(({ toolUseId }) => toolUseId));
  return new Set(toolUsesOf(call).flatMap(({ id, name }) => (answered.has(id) ? [name] : [])));
}

/** What `on` is held against. */
interface Newest {
  readonly inputs: readonly string[];
  readonly tools: ReadonlySet<string>;
  /** Messages that no turn has answered yet. */
  readonly open: readonly string[];
}

function fits(turn: Turn, { inputs, tools, open }: Newest): boolean {
  const { on } = turn;
  if (on === undefined) return true;
  if (on.heard !== undefined) return hasHeard(turn, open);
  const { tool, contains = "", matches = "" } = on;
  if (tool !== undefined && !tools.has(tool)) return false;
  const pattern = new RegExp(matches, "u");
  return inputs.some((input) => input.includes(contains) && pattern.test(input));
}

/**
 * A shutdown request of the running turn's input that is still to be answered: by nothing that was played or is about to be,
 * and that nothing of it is about. Other messages of the same input may have had turns that fit them.
 * @param playing the turn that is played now
 * @returns its id
 */
export function openShutdown(
  playbook: Playbook,
  messages: readonly ConversationMessage[],
  playing?: Turn,
): string | undefined {
  const begin = messages.findLastIndex((message) => originOf(message) !== undefined);
  const shutdown = originOf(messages[begin])?.shutdown;
  if (shutdown === undefined) return undefined;
  const answers = messages.slice(begin + 1).filter((message) => message.role === "assistant");
  const played = answers.flatMap(({ turn }) => (turn === undefined ? [] : (turnAt(playbook, turn) ?? [])));
  const isSettled =
    answers.some((answer) => toolUsesOf(answer).some(answersShutdown)) ||
    [...played, ...(playing === undefined ? [] : [playing])].some(
      (turn) => (turn.tools ?? []).some(answersShutdown) || isAbout(turn, shutdown.text),
    );
  return isSettled ? undefined : shutdown.requestId;
}

function originOf(message: ConversationMessage | undefined): InputOrigin | undefined {
  return message?.role === "user" ? message.origin : undefined;
}

/** Whether a turn's `on` fits this text by itself. */
function isAbout(turn: Turn, text: string): boolean {
  return turn.on !== undefined && fits(turn, { inputs: [text], tools: new Set(), open: [text] });
}

function answersShutdown({ input }: Pick<ToolUseBlock, "input">): boolean {
  return (input as Readonly<Record<string, unknown>> | null)?.type === "shutdown_response";
}
