import { NOTHING_SPENT, type Spent } from "../../agent/conversation/call-model.ts";
import { addTokens, NO_TOKENS, tokensSince } from "../../schema/tokens.ts";
import { countOf, fieldsOf } from "../reported-values.ts";

/** Returns the tokens that the result of a prompt reports, in any of the forms that CLIs use; nothing if it reports none. */
export function usageOf(result: unknown): Spent {
  const { usage, _meta } = fieldsOf(result);
  const { quota, usage: meta } = fieldsOf(_meta);
  const found = [usage, meta, fieldsOf(quota).token_count].find(
    (one) => typeof one === "object" && one !== null,
  );
  if (found === undefined) return NOTHING_SPENT;
  const fields = fieldsOf(found);
  const count = (...names: readonly string[]): number =>
    countOf(names.map((name) => fields[name]).find((one) => typeof one === "number"));
  return {
    usage: {
      input: count("inputTokens", "input_tokens"),
      output: count("outputTokens", "output_tokens"),
      cacheRead: count("cachedReadTokens", "cachedInputTokens"),
      cacheWrite: count("cachedWriteTokens", "cacheWriteInputTokens"),
    },
    costUsd: 0,
  };
}

/**
 * The tokens of one prompt. Some CLIs report them with its result. Others report them with the last chunk of each model call, and may
 * repeat their sum with the result.
 */
export class PromptUsage {
  #chunks = NO_TOKENS;

  /** Returns the tokens that a chunk reports. */
  addChunk({ _meta }: { readonly _meta?: unknown }): Spent {
    const spent = usageOf({ _meta });
    this.#chunks = addTokens(this.#chunks, spent.usage);
    return spent;
  }

  /** Returns the tokens of the prompt's result that no chunk has reported. */
  rest(result: unknown): Spent {
    const { usage, costUsd } = usageOf(result);
    return { usage: tokensSince(usage, this.#chunks), costUsd };
  }
}

/** Returns the cost of the whole session in US dollars that a `usage_update` reports; undefined if it reports none. */
export function sessionCostOf(update: unknown): number | undefined {
  const { amount, currency } = fieldsOf(fieldsOf(update).cost);
  return typeof amount === "number" && amount >= 0 && currency === "USD" ? amount : undefined;
}
