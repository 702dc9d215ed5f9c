import type { AgentEvent } from "../events.ts";
import { textOf, toolUsesOf } from "../model/messages.ts";
import type { ConversationMessage, Model, ModelRequest, UserMessage } from "../model/model.ts";
import { type ModelAnswer, type Spent, streamAnswer } from "./call-model.ts";
import { ASK_AGAIN, ASK_FOR_SUMMARY, noSummary, summaryMessage } from "./summary-prompt.ts";
import {
  compactionPoint,
  cutMiddle,
  fitMessages,
  keptTokens,
  shortenTexts,
  splitPoint,
  tokensOf,
  tokensOfText,
  withoutThinking,
} from "./trim-messages.ts";

interface CompactionInput {
  readonly model: Model;
  /** As the next call of the model would be sent: the summary is asked for behind the same prompt, which its cache holds. */
  readonly request: ModelRequest;
  /** Tokens that one request may have. */
  readonly window: number;
  readonly signal: AbortSignal;
  /** What the agent should know of the world as it is now. */
  readonly facts: () => string;
  readonly emit: (event: AgentEvent) => void;
  /** Told of each call of the model. */
  readonly spent: (spent: Spent) => void;
}

export type Compaction =
  | {
      readonly outcome: "compacted";
      readonly messages: readonly ConversationMessage[];
      /** Why there is no summary in it, where there should be one. */
      readonly noSummary?: string;
    }
  | { readonly outcome: "interrupted" }
  | { readonly outcome: "failed"; readonly failure: string };

/** Times that a summary is asked for, each of half as much, before there is none: after them an eighth was too long. */
const MAX_ATTEMPTS = 4;
/** Characters of the newest request that are kept word for word. */
const MAX_REQUEST = 8_000;

/**
 * A conversation in a part of its window: a summary of its oldest part by the model, and the newest as it was. Where the
 * newest alone is too long (one huge result), its longest texts are cut; where even a summary is too long to be made,
 * there is none.
 */
export async function compactConversation(input: CompactionInput): Promise<Compaction> {
  const { request, window } = input;
  const { messages } = request;
  const from = splitPoint(messages, keptTokens(window));
  const [head, tail] = [messages.slice(0, from), messages.slice(from)];
  // Half of what would be compacted again at once, so that there is work between two compactions.
  const kept = withoutThinking(shortenTexts(tail, roomFor(input) / 2));
  if (head.length === 0) return { outcome: "compacted", messages: kept };
  const summed = await summarize(input, head);
  if (summed.outcome !== "summed") return summed;
  const { summary, flaw } = summed;
  const opening = newestInput(messages);
  const text = summaryMessage({
    summary,
    request: opening !== undefined && head.includes(opening) ? requestText(opening) : undefined,
    facts: input.facts(),
  });
  const first: UserMessage = {
    role: "user",
    content: [{ type: "text", text }],
    ...(opening?.origin === undefined || !head.includes(opening) ? {} : { origin: opening.origin }),
  };
  return {
    outcome: "compacted",
    messages: [first, ...kept],
    ...(flaw === undefined ? {} : { noSummary: flaw }),
  };
}

/** Tokens for messages beside what each request carries, below the point of compaction. */
function roomFor({ request: { system, tools }, window }: CompactionInput): number {
  const carried = tokensOfText(system) + tokensOfText(JSON.stringify(tools));
  // A window that the tools alone fill is the server's to refuse.
  return Math.max(1_000, compactionPoint(window) - carried);
}

/** The message that the newest turn began with. */
function newestInput(messages: readonly ConversationMessage[]): UserMessage | undefined {
  const opening = messages.findLast((message) => message.role === "user" && message.origin !== undefined);
  return opening?.role === "user" ? opening : undefined;
}

function requestText(opening: UserMessage): string {
  return cutMiddle(textOf(opening), MAX_REQUEST);
}

/** What stands for the oldest part, and why that is no summary where it is none. */
type SummaryResult =
  | { readonly outcome: "summed"; readonly summary: string; readonly flaw?: string }
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
    input.spent(answer.spent);
    if (answer.outcome === "interrupted") return { outcome: "interrupted" };
    if (answer.outcome === "answered") {
      const summary = summaryIn(answer, again);
      if (summary !== "") return { outcome: "summed", summary };
      if (again) return withoutSummary(input, head, NO_SUMMARY_GIVEN);
      again = true;
    } else if (answer.kind === "too_long") {
      tokens = Math.min(tokens, tokensOf(head)) / 2;
    } else if (again && answer.kind === "invalid_request") {
      // A server that knows no such choice.
      return withoutSummary(input, head, NO_SUMMARY_GIVEN);
    } else {
      return { outcome: "failed", failure: `The conversation could not be summarised: ${answer.failure}` };
    }
  }
  return withoutSummary(input, head, TOO_LONG);
}

const NO_SUMMARY_GIVEN = "the model gave none";
const TOO_LONG = "it was too long for the model";

/** The summary in an answer; "" where it is none. One that was cut is better than none, once another was asked for. */
function summaryIn(
  { message, stopReason }: Extract<ModelAnswer, { outcome: "answered" }>,
  cutToo: boolean,
): string {
  const isWhole = stopReason === "end_turn" || (cutToo && stopReason === "max_tokens");
  return isWhole && toolUsesOf(message).length === 0 ? textOf(message).trim() : "";
}

/** Of a part that has no summary there stays what was said to the agent, from its newest on: requests and rules most of all. */
function withoutSummary(
  { window, request }: CompactionInput,
  head: readonly ConversationMessage[],
  flaw: string,
): SummaryResult {
  const said: string[] = [];
  let room = keptTokens(window) / 2;
  // In characters, so that there is room for six at least.
  const longest = Math.min(MAX_REQUEST, room / 2);
  // The newest request is there in any case.
  const opening = newestInput(request.messages);
  for (const message of [...head].reverse()) {
    if (message.role !== "user" || message.origin === undefined || message === opening) continue;
    const text = cutMiddle(textOf(message), longest);
    room -= tokensOfText(text);
    if (room < 0) break;
    said.unshift(text);
  }
  return { outcome: "summed", summary: noSummary(flaw, said), flaw };
}

/** What the model says here is no part of the conversation: nobody is shown it. */
function askForSummary(
  input: CompactionInput,
  head: readonly ConversationMessage[],
  again: boolean,
): Promise<ModelAnswer> {
  const { model, request, signal, emit } = input;
  const text = again ? `${ASK_FOR_SUMMARY}\n\n${ASK_AGAIN}` : ASK_FOR_SUMMARY;
  const messages: ConversationMessage[] = [...head, { role: "user", content: [{ type: "text", text }] }];
  const asked = { ...request, messages, ...(again ? { toolless: true as const } : {}) };
  return streamAnswer(model, asked, signal, (event) => {
    if (event.type === "throttled") emit(event);
  });
}
