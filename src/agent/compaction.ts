import {
  compactionPoint,
  cutMiddle,
  fitted,
  keptTokens,
  shortened,
  splitPoint,
  tokensOf,
  tokensOfText,
  withoutThinking,
} from "./compact.ts";
import { textOf } from "./conversation.ts";
import type { AgentEvent } from "./events.ts";
import type { ConversationMessage, Model, ModelRequest, UserMessage } from "./model/model.ts";
import { type ModelAnswer, type Spent, streamAnswer } from "./model-call.ts";
import { ASK_FOR_SUMMARY, NO_SUMMARY, summaryMessage } from "./prompts/summary.ts";

export interface CompactionInput {
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
  | { readonly outcome: "compacted"; readonly messages: readonly ConversationMessage[] }
  | { readonly outcome: "interrupted" }
  | { readonly outcome: "failed"; readonly failure: string };

/** Times that a summary is asked for, each of half as much, before there is none: after them an eighth was too long. */
const MAX_ASKED = 4;
/** Characters of the newest request that are kept word for word. */
const MAX_REQUEST = 8_000;

/**
 * A conversation in a part of its window: a summary of its oldest part by the model, and the newest as it was. Where the
 * newest alone is too long (one huge result), its longest texts are cut; where even a summary is too long to be made,
 * there is none.
 */
export async function compact(input: CompactionInput): Promise<Compaction> {
  const { request, window } = input;
  const { messages } = request;
  const from = splitPoint(messages, keptTokens(window));
  const [head, tail] = [messages.slice(0, from), messages.slice(from)];
  // Half of what would be compacted again at once, so that there is work between two compactions.
  const kept = withoutThinking(shortened(tail, roomFor(input) / 2));
  if (head.length === 0) return { outcome: "compacted", messages: kept };
  const summary = await summarize(input, head);
  if (typeof summary !== "string") return summary;
  const opening = openingOf(messages);
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
  return { outcome: "compacted", messages: [first, ...kept] };
}

/** Tokens for messages beside what each request carries, below the point of compaction. */
function roomFor({ request: { system, tools }, window }: CompactionInput): number {
  const carried = tokensOfText(system) + tokensOfText(JSON.stringify(tools));
  // A window that the tools alone fill is the server's to refuse.
  return Math.max(1_000, compactionPoint(window) - carried);
}

/** The message that the newest turn began with. */
function openingOf(messages: readonly ConversationMessage[]): UserMessage | undefined {
  const opening = messages.findLast((message) => message.role === "user" && message.origin !== undefined);
  return opening?.role === "user" ? opening : undefined;
}

function requestText(opening: UserMessage): string {
  return cutMiddle(textOf(opening), MAX_REQUEST);
}

async function summarize(
  input: CompactionInput,
  head: readonly ConversationMessage[],
): Promise<string | Exclude<Compaction, { outcome: "compacted" }>> {
  let tokens = roomFor(input);
  for (let asked = 0; asked < MAX_ASKED; asked += 1) {
    const answer = await ask(input, fitted(head, tokens));
    input.spent(answer.spent);
    if (answer.outcome === "interrupted") return { outcome: "interrupted" };
    if (answer.outcome === "answered") return textOf(answer.message).trim() || NO_SUMMARY;
    if (answer.kind !== "too_long") {
      return { outcome: "failed", failure: `The conversation could not be summarised: ${answer.failure}` };
    }
    tokens = Math.min(tokens, tokensOf(head)) / 2;
  }
  return NO_SUMMARY;
}

/** What the model says here is no part of the conversation: nobody is shown it. */
function ask(input: CompactionInput, head: readonly ConversationMessage[]): Promise<ModelAnswer> {
  const { model, request, signal, emit } = input;
  const messages: ConversationMessage[] = [
    ...head,
    { role: "user", content: [{ type: "text", text: ASK_FOR_SUMMARY }] },
  ];
  return streamAnswer(model, { ...request, messages }, signal, (event) => {
    if (event.type === "throttled") emit(event);
  });
}
