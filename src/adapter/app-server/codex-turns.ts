import { NOTHING_SPENT, type Spent } from "../../agent/conversation/call-model.ts";
import { tokensSince } from "../../schema/tokens.ts";
import type { ChannelEvents, ChannelTurnEnd } from "../channel.ts";
import { countOf, type Fields, fieldsOf, oneLine } from "../reported-values.ts";

/** The only report that names no thread. */
export const ACCOUNT_LIMITS = "account/rateLimits/updated";

/** Codex's reports on the turns of one thread, as events of a channel. */
export class CodexTurns {
  readonly #events: ChannelEvents;
  readonly #items = new Map<string, Fields>();
  /** Messages whose text came in pieces. */
  readonly #streamed = new Set<string>();
  #total: Spent | undefined;
  #current: string | undefined;
  #newestEnded: unknown;
  #lastText: string | undefined;
  /** When the used-up limits of the account end. */
  #limitedUntil: number | undefined;

  /** @param isNew whether the thread has spent nothing yet */
  constructor(events: ChannelEvents, isNew: boolean) {
    this.#events = events;
    this.#total = isNew ? NOTHING_SPENT : undefined;
  }

  /** The running turn, which teams or a person has started. */
  get current(): string | undefined {
    return this.#current;
  }

  /** Records that Codex has accepted a text in this turn, whose start it may not have reported yet. */
  accepted(id: unknown): void {
    if (typeof id === "string" && id !== this.#newestEnded) this.#current ??= id;
  }

  item(id: unknown): Fields {
    return this.#items.get(String(id)) ?? {};
  }

  notified(method: string, params: Fields): void {
    switch (method) {
      case "turn/started":
        this.#started(String(fieldsOf(params.turn).id));
        return;
      case "turn/completed":
        this.#completed(fieldsOf(params.turn));
        return;
      case "item/agentMessage/delta":
        this.#streamed.add(String(params.itemId));
        if (typeof params.delta === "string") this.#events.text(params.delta);
        return;
      case "item/started":
        this.#itemStarted(fieldsOf(params.item));
        return;
      case "item/completed":
        this.#itemCompleted(fieldsOf(params.item));
        return;
      case "thread/tokenUsage/updated":
        this.#spent(fieldsOf(params.tokenUsage));
        return;
      case ACCOUNT_LIMITS:
        this.#limitedUntil = latestReset(fieldsOf(params.rateLimits));
        return;
      default:
        return;
    }
  }

  #started(id: string): void {
    this.#current = id;
    this.#lastText = undefined;
    this.#events.turnStarted();
  }

  #completed({ id, status, error }: Fields): void {
    if (this.#current !== undefined && this.#current !== id) return;
    this.#current = undefined;
    this.#newestEnded = id;
    this.#items.clear();
    this.#streamed.clear();
    const text = this.#lastText === undefined ? {} : { text: this.#lastText };
    const isLimited = fieldsOf(error).codexErrorInfo === "usageLimitExceeded";
    const limit = isLimited ? { limit: { resumeAt: this.#limitedUntil } } : {};
    this.#events.turnEnded({ ...text, ...outcomeOf(status, error), ...limit });
  }

  #itemStarted(item: Fields): void {
    const id = String(item.id);
    const tool = toolOf(item);
    if (tool === undefined) return;
    const isKnown = this.#items.has(id);
    this.#items.set(id, item);
    if (!isKnown) this.#events.toolStarted({ id, ...tool });
    // Text before a call is not the last text.
    this.#lastText = undefined;
  }

  #itemCompleted(item: Fields): void {
    const id = String(item.id);
    if (item.type === "agentMessage") {
      const text = typeof item.text === "string" ? item.text : "";
      this.#lastText = text;
      if (!this.#streamed.has(id)) this.#events.text(text);
      return;
    }
    // A late report on a call of an earlier turn.
    if (!this.#items.has(id)) return;
    const { aggregatedOutput, result, error, status } = item;
    const content = typeof aggregatedOutput === "string" ? aggregatedOutput : jsonOf(result ?? error);
    const isError = status === "failed" || status === "declined";
    this.#events.toolEnded({ id, content, isError });
  }

  /** Codex reports the total of the whole thread, and some totals twice; only the difference is new. */
  #spent({ total, last }: Fields): void {
    const now = spentOf(total);
    const isInTurn = this.#current !== undefined;
    const before = this.#total ?? (isInTurn ? difference(now, spentOf(last)) : now);
    this.#total = now;
    const added = difference(now, before);
    if (Object.values(added.usage).some((count) => count > 0)) this.#events.spent(added);
  }
}

function outcomeOf(status: unknown, error: unknown): ChannelTurnEnd {
  if (status === "completed") return { outcome: "completed" };
  if (status === "interrupted") return { outcome: "interrupted" };
  const { message } = fieldsOf(error);
  return { outcome: "failed", failure: oneLine(typeof message === "string" ? message : String(status)) };
}

/** Returns when the last of the used-up limits ends, in milliseconds since the epoch. */
function latestReset({ primary, secondary }: Fields): number | undefined {
  const resets = [primary, secondary].flatMap((window) => {
    const { usedPercent, resetsAt } = fieldsOf(window);
    const isUsedUp = typeof usedPercent === "number" && usedPercent >= 100;
    return isUsedUp && typeof resetsAt === "number" ? [resetsAt * 1_000] : [];
  });
  return resets.length === 0 ? undefined : Math.max(...resets);
}

function toolOf(item: Fields): { readonly tool: string; readonly summary: string } | undefined {
  const { type, command, changes, server, tool, query } = item;
  if (type === "commandExecution") return { tool: "Bash", summary: oneLine(String(command)) };
  if (type === "mcpToolCall")
    return { tool: oneLine(`mcp__${server}__${tool}`), summary: jsonOf(item.arguments) };
  if (type === "webSearch") return { tool: "WebSearch", summary: oneLine(String(query)) };
  if (type !== "fileChange") return undefined;
  const paths = (Array.isArray(changes) ? changes : []).map((one) => String(fieldsOf(one).path));
  return { tool: "Edit", summary: oneLine(paths.join(", ")) };
}

function jsonOf(value: unknown): string {
  return value === undefined || value === null ? "" : oneLine(JSON.stringify(value));
}

function spentOf(sum: unknown): Spent {
  const fields = fieldsOf(sum);
  const count = (name: string): number => countOf(fields[name]);
  const cacheRead = count("cachedInputTokens");
  const cacheWrite = count("cacheWriteInputTokens");
  const input = Math.max(0, count("inputTokens") - cacheRead - cacheWrite);
  return { usage: { input, output: count("outputTokens"), cacheRead, cacheWrite }, costUsd: 0 };
}

function difference(now: Spent, before: Spent): Spent {
  return { usage: tokensSince(now.usage, before.usage), costUsd: 0 };
}
