import type { Playbook, PlaybookTurn } from "../../schema/playbook.ts";
import { withoutAlias } from "../../schema/tool-names.ts";
import { failureKind, isRetryable } from "../model/failures.ts";
import { messageText, toolResultsOf, toolUsesOf } from "../model/messages.ts";
import type { ConversationMessage, InputOrigin, ToolUseBlock } from "../model/model.ts";
import { isSatisfied, unansweredMessages } from "./heard-messages.ts";
import { turnAt } from "./placeholder-values.ts";

/** Maximum attempts of one call that fails with a transient error. */
export const MAX_ERRORS = 8;

/** The turn of a playbook to play now. */
export interface ChosenTurn {
  readonly turn: PlaybookTurn;
  /** The key of its list: an agent's name, or `*`. */
  readonly list: string;
  readonly index: number;
  /** Number of its errors that are left. */
  readonly errors: number;
}

/**
 * Returns the first unplayed turn whose `on` matches, from the agent's own list, then from `*`. For a shutdown request,
 * only turns that have an `on` or answer it qualify: the others would swallow it. A turn without tools ends the agent's
 * turn, so turns that act on other messages go first.
 */
export function chooseTurn(
  playbook: Playbook,
  agent: string,
  messages: readonly ConversationMessage[],
): ChosenTurn | undefined {
  const choices = matchingTurns(playbook, agent, messages);
  const [first] = choices;
  if (first === undefined || first.turn.tools !== undefined) return first;
  const acts = choices.find(({ turn }) => turn.on?.heard !== undefined && turn.tools !== undefined);
  // A turn about the newest tool result goes before a turn that only acknowledges an older message.
  return acts ?? choices.find(({ turn }) => turn.on?.tool !== undefined) ?? first;
}

function matchingTurns(
  playbook: Playbook,
  agent: string,
  messages: readonly ConversationMessage[],
): ChosenTurn[] {
  const newest: TurnInput = {
    inputs: newestInputs(messages),
    tools: newestTools(messages),
    open: unansweredMessages(playbook, messages),
  };
  const choices: ChosenTurn[] = [];
  const shutdown = originOf(messages.at(-1))?.shutdown !== undefined;
  for (const list of new Set([agent, "*"])) {
    const turns = Object.hasOwn(playbook.agents, list) ? (playbook.agents[list] ?? []) : [];
    for (const [index, turn] of turns.entries()) {
      const errors = errorsLeft(turn, countAttempts(messages, `${list}/${index}`));
      if (errors === undefined || !matchesCondition(turn, newest)) continue;
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

function countAttempts(messages: readonly ConversationMessage[], position: string): Attempts {
  let played = 0;
  let unfinished = 0;
  for (const message of messages) {
    if (message.role !== "assistant" || message.turn !== position) continue;
    if (message.unfinished) unfinished += 1;
    else played += 1;
  }
  return { played, unfinished };
}

/** Returns how many errors of a turn come before it plays; undefined if it is finished. */
function errorsLeft(turn: PlaybookTurn, { played, unfinished }: Attempts): number | undefined {
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

/** Returns the texts that `on` is matched against: the newest input as the model reads it, and its newest message as sent. */
function newestInputs(messages: readonly ConversationMessage[]): string[] {
  const newest = messages.at(-1);
  if (newest?.role !== "user") return [""];
  const results = toolResultsOf(newest).map((block) => block.content);
  const whole = [...results, messageText(newest)].filter((text) => text !== "").join("\n");
  return newest.origin === undefined ? [whole] : [whole, newest.origin.text];
}

/** Returns the tools whose results the newest input contains, without aliases. */
function newestTools(messages: readonly ConversationMessage[]): ReadonlySet<string> {
  const [call, answer] = messages.slice(-2);
  if (call?.role !== "assistant" || answer?.role !== "user") return new Set();
  const answered = new Set(toolResultsOf(answer).map(({ toolUseId }) => toolUseId));
  return new Set(toolUsesOf(call).flatMap(({ id, name }) => (answered.has(id) ? [withoutAlias(name)] : [])));
}

/** The input that `on` is matched against. */
interface TurnInput {
  readonly inputs: readonly string[];
  readonly tools: ReadonlySet<string>;
  /** Messages that no turn has answered. */
  readonly open: readonly string[];
}

function matchesCondition(turn: PlaybookTurn, { inputs, tools, open }: TurnInput): boolean {
  const { on } = turn;
  if (on === undefined) return true;
  if (on.heard !== undefined) return isSatisfied(turn, open);
  const { tool, contains = "", matches = "" } = on;
  if (tool !== undefined && !tools.has(withoutAlias(tool))) return false;
  const pattern = new RegExp(matches, "u");
  return inputs.some((input) => input.includes(contains) && pattern.test(input));
}

/**
 * Returns the id of the shutdown request in the input of the agent's turn, if no played turn answers it or matches it. Turns
 * that match only other messages of the input do not count.
 * @param playing the turn that is being played
 */
export function openShutdown(
  playbook: Playbook,
  messages: readonly ConversationMessage[],
  playing?: PlaybookTurn,
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

/** Returns true if a turn's `on` matches this text alone. */
function isAbout(turn: PlaybookTurn, text: string): boolean {
  return turn.on !== undefined && matchesCondition(turn, { inputs: [text], tools: new Set(), open: [text] });
}

function answersShutdown({ input }: Pick<ToolUseBlock, "input">): boolean {
  return (input as Readonly<Record<string, unknown>> | null)?.type === "shutdown_response";
}
