import type { AgentEvent } from "../events.ts";
import { messageText, toolUsesOf } from "../model/messages.ts";
import type { ConversationMessage, Model, ModelRequest, UserMessage } from "../model/model.ts";
import { type ModelAnswer, type Spent, streamAnswer } from "./call-model.ts";
import { ASK_AGAIN, ASK_FOR_SUMMARY, keepAboveAll, noSummary, summaryMessage } from "./summary-prompt.ts";
import {
  compactionThreshold,
  cutMiddle,
  firstKeptIndex,
  fitMessages,
  keptTokens,
  shortenTexts,
  tokensOf,
  tokensOfText,
  withoutThinking,
} from "./trim-messages.ts";

/** A compaction that a person asked for. */
export interface AskedCompaction {
  /** The user's words about what the summary must keep; "" for nothing in particular. */
  readonly focus: string;
}

interface CompactionInput {
  readonly model: Model;
  /** The next request to the model. The request for a summary begins with the same messages, which are in the server's cache. */
  readonly request: ModelRequest;
  /** Maximum tokens of one request. */
  readonly window: number;
  readonly signal: AbortSignal;
  /** Returns current facts that the agent reads after the compaction. */
  readonly facts: () => string;
  readonly emit: (event: AgentEvent) => void;
  /** Called with the cost of each model call. */
  readonly onSpent: (spent: Spent) => void;
  /** Set if a person asked, between two turns: the whole conversation is replaced. */
  readonly asked?: AskedCompaction | undefined;
}

export type Compaction =
  | {
      readonly outcome: "compacted";
      readonly messages: readonly ConversationMessage[];
      /** Why the summary is missing, if it is. */
      readonly noSummary?: string;
    }
  | { readonly outcome: "interrupted" }
  | { readonly outcome: "failed"; readonly failure: string };

/** Maximum requests for a summary. Each request after a rejection has half the length, so the last has an eighth. */
const MAX_ATTEMPTS = 4;
/** Maximum characters of the newest input that are kept word for word. */
const MAX_REQUEST = 8_000;

/**
 * Compacts a conversation to a part of its window: the model summarises the oldest part, and the newest part stays as it is. If
 * the newest part alone is too long (one huge result), its longest texts are truncated. If even the request for a summary is
 * too long, the summary is left out.
 */
export async function compactConversation(input: CompactionInput): Promise<Compaction> {
  const { request, window, asked } = input;
  const { messages } = request;
  const from = asked === undefined ? firstKeptIndex(messages, keptTokens(window)) : messages.length;
  const [head, tail] = [messages.slice(0, from), messages.slice(from)];
  // Half of the compaction threshold, so that the agent can work before the next compaction.
  const kept = withoutThinking(shortenTexts(tail, roomFor(input) / 2));
  if (head.length === 0) return { outcome: "compacted", messages: kept };
  const result = await summarize(input, head);
  if (result.outcome !== "summarised") return result;
  const { summary, missingBecause } = result;
  const opening = newestInput(messages);
  const replaced = opening !== undefined && head.includes(opening) ? opening : undefined;
  const isAsked = asked !== undefined;
  const text = summaryMessage({
    summary,
    // Between two turns, the turn of this request has ended.
    request: isAsked && replaced !== undefined ? requestText(replaced) : undefined,
    facts: input.facts(),
    isAsked,
  });
  const first: UserMessage = { role: "user", content: [{ type: "text", text }], summary: true };
  // A separate message: if the model refuses the turn, only the turn is left out, and not the summary.
  const again = isAsked || replaced === undefined ? [] : [shortInput(replaced)];
  return {
    outcome: "compacted",
    messages: [first, ...again, ...kept],
    ...(missingBecause === undefined ? {} : { noSummary: missingBecause }),
  };
}

/** Tokens that are left for messages below the compaction threshold, after the system prompt and the tools. */
function roomFor({ request: { system, tools }, window }: CompactionInput): number {
  const fixed = tokensOfText(system) + tokensOfText(JSON.stringify(tools));
  // If the tools alone fill the window, the server rejects the request.
  return Math.max(1_000, compactionThreshold(window) - fixed);
}

/** Returns the message that the newest turn began with. */
function newestInput(messages: readonly ConversationMessage[]): UserMessage | undefined {
  const opening = messages.findLast((message) => message.role === "user" && message.origin !== undefined);
  return opening?.role === "user" ? opening : undefined;
}

function shortInput(opening: UserMessage): UserMessage {
  return { ...opening, content: [{ type: "text", text: requestText(opening) }] };
}

function requestText(opening: UserMessage): string {
  return cutMiddle(messageText(opening), MAX_REQUEST);
}

/** The text that replaces the oldest part. `missingBecause` is set if it is not a summary. */
type SummaryResult =
  | { readonly outcome: "summarised"; readonly summary: string; readonly missingBecause?: string }
  | Exclude<Compaction, { outcome: "compacted" }>;

async function summarize(
  input: CompactionInput,
  head: readonly ConversationMessage[],
): Promise<SummaryResult> {
  let tokens = roomFor(input);
  let again = false;
  for (let asked = 0; asked < MAX_ATTEMPTS; asked += 1) {
    const shown = tokensOf(head) <= tokens ? head : withoutThinking(fitMessages(head, tokens));
    const answer = await askForSummary(input, shown, again);
    input.onSpent(answer.spent);
    if (answer.outcome === "interrupted") return { outcome: "interrupted" };
    if (answer.outcome === "answered") {
      const summary = summaryIn(answer, again);
      if (summary !== "") return { outcome: "summarised", summary };
      if (again) return withoutSummary(input, head, NO_SUMMARY_GIVEN);
      again = true;
    } else if (answer.kind === "too_long") {
      tokens = Math.min(tokens, tokensOf(head)) / 2;
    } else if (again && answer.kind === "invalid_request") {
      // The server does not support requests without tools.
      return withoutSummary(input, head, NO_SUMMARY_GIVEN);
    } else {
      return { outcome: "failed", failure: `The conversation could not be summarised: ${answer.failure}` };
    }
  }
  return withoutSummary(input, head, TOO_LONG);
}

const NO_SUMMARY_GIVEN = "the model returned no summary";
const TOO_LONG = "it was too long for the model";

/**
 * Returns the summary in an answer; "" without one.
 * @param acceptTruncated true for the second request: a truncated summary is better than none
 */
function summaryIn(
  { message, stopReason }: Extract<ModelAnswer, { outcome: "answered" }>,
  acceptTruncated: boolean,
): string {
  const isWhole = stopReason === "end_turn" || (acceptTruncated && stopReason === "max_tokens");
  return isWhole && toolUsesOf(message).length === 0 ? messageText(message).trim() : "";
}

/** Replaces a part without a summary with its earlier summary and its newest inputs, which contain requests and rules. */
function withoutSummary(
  { window, request }: CompactionInput,
  head: readonly ConversationMessage[],
  reason: string,
): SummaryResult {
  const inputs: string[] = [];
  let room = keptTokens(window) / 2;
  // `room` is in tokens of 3 bytes, so at least six texts fit.
  const maxLength = Math.min(MAX_REQUEST, room / 2);
  const shown = (message: UserMessage): string => cutMiddle(messageText(message), maxLength);
  // An earlier summary contains more than any input.
  const earlier = head.flatMap((message) =>
    message.role === "user" && message.summary ? [shown(message)] : [],
  );
  for (const text of earlier) room -= tokensOfText(text);
  // The newest input is kept in any case.
  const opening = newestInput(request.messages);
  for (const message of [...head].reverse()) {
    if (message.role !== "user" || message.origin === undefined || message === opening) continue;
    const text = shown(message);
    room -= tokensOfText(text);
    if (room < 0) break;
    inputs.unshift(text);
  }
  const summary = noSummary(reason, earlier, inputs);
  return { outcome: "summarised", summary, missingBecause: reason };
}

/** Asks the model for a summary. Its answer is not part of the conversation and is not shown. */
function askForSummary(
  input: CompactionInput,
  head: readonly ConversationMessage[],
  again: boolean,
): Promise<ModelAnswer> {
  const { model, request, signal, emit, asked } = input;
  const focus = asked === undefined || asked.focus === "" ? [] : [keepAboveAll(asked.focus)];
  const text = [ASK_FOR_SUMMARY, ...focus, ...(again ? [ASK_AGAIN] : [])].join("\n\n");
  const messages: ConversationMessage[] = [...head, { role: "user", content: [{ type: "text", text }] }];
  const next: ModelRequest = {
    ...request,
    messages,
    isForSummary: true,
    ...(again ? { toolless: true as const } : {}),
  };
  return streamAnswer(model, next, signal, (event) => {
    if (event.type === "throttled" || event.type === "model_called") emit(event);
  });
}
