import type { TokenCount } from "../../schema/tokens.ts";

/** US dollars per million tokens. */
interface Rates {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

/** Facts about a model that are known before a call. */
export interface ModelFacts {
  /** Maximum tokens of one request including its answer. */
  readonly window?: number;
  /** Undefined: the cost of a call is unknown. */
  readonly rates?: Rates;
  /** Rates for the whole request if its prompt is longer than `above` tokens. */
  readonly longPrompt?: { readonly above: number; readonly rates: Rates };
}

/** A user's settings for a model (`teams.prices`); a missing field keeps the value of this catalog. */
export interface OwnFacts {
  readonly input?: number | undefined;
  readonly output?: number | undefined;
  readonly cacheRead?: number | undefined;
  readonly cacheWrite?: number | undefined;
  readonly window?: number | undefined;
}

/** Default prices for reading and writing the cache, as factors of the input price. */
const CACHE_READ = 0.1;
const CACHE_WRITE = 1.25;

/** Default window in tokens: that of the smallest model here. A server with a smaller one reports an error. */
export const USUAL_WINDOW = 200_000;
const MILLION = 1_000_000;

/**
 * All known prices and windows, from platform.claude.com (models, pricing) on 22 November 2026. Cache writes are for five
 * minutes. The setting `teams.prices` overrides these.
 */
const MODELS: Readonly<Record<string, ModelFacts>> = {
  "claude-fable-5-1": { window: MILLION, rates: rates(10, 50, 0.25) },
  "claude-mythos-5-1": { window: MILLION, rates: rates(10, 50, 0.25) },
  "claude-fable-5": { window: MILLION, rates: rates(10, 50) },
  "claude-mythos-5": { window: MILLION, rates: rates(10, 50) },
  "claude-opus-5-5": { window: MILLION, rates: rates(4, 20, 0.2) },
  "claude-opus-5": { window: MILLION, rates: rates(5, 25) },
  "claude-opus-4-8": { window: MILLION, rates: rates(5, 25) },
  "claude-opus-4-7": { window: MILLION, rates: rates(5, 25) },
  "claude-opus-4-6": { window: MILLION, rates: rates(5, 25) },
  "claude-opus-4-5": { window: 200_000, rates: rates(5, 25) },
  "claude-sonnet-5-5": { window: MILLION, rates: rates(2, 10, 0.1) },
  "claude-sonnet-5": { window: MILLION, rates: rates(2, 10) },
  "claude-sonnet-4-6": { window: MILLION, rates: rates(3, 15) },
  "claude-sonnet-4-5": { window: 200_000, rates: rates(3, 15) },
  "claude-haiku-5-5": {
    window: MILLION,
    rates: rates(0.1, 0.5),
    longPrompt: { above: 100_000, rates: rates(0.5, 2.5) },
  },
  "claude-haiku-4-5": { window: 200_000, rates: rates(1, 5) },
};

function rates(
  input: number,
  output: number,
  cacheRead = input * CACHE_READ,
  cacheWrite = input * CACHE_WRITE,
): Rates {
  return { input, output, cacheRead, cacheWrite };
}

/**
 * Returns the facts about a model.
 * @param id the server's id of the model, with or without a date suffix
 * @param own the user's settings, by id or by short name
 * @param names other names of the model in these settings
 */
export function modelFacts(
  id: string,
  own: Readonly<Record<string, OwnFacts>> = {},
  names: readonly string[] = [],
): ModelFacts {
  const undated = id.replace(/-\d{8}$/, "");
  const known = entryOf(MODELS, id) ?? entryOf(MODELS, undated) ?? {};
  const entry = entryOf(own, id) ?? entryOf(own, undated) ?? firstEntry(own, names);
  if (entry === undefined) return known;
  const { input = known.rates?.input, output = known.rates?.output } = entry;
  const window = entry.window ?? known.window;
  const isPriced = entry.input !== undefined || entry.output !== undefined;
  return {
    ...(window === undefined ? {} : { window }),
    ...(input === undefined || output === undefined
      ? {}
      : { rates: rates(input, output, ...cacheRates(entry, isPriced ? undefined : known.rates)) }),
    // The user's prices apply to prompts of any length.
    ...(isPriced || known.longPrompt === undefined ? {} : { longPrompt: known.longPrompt }),
  };
}

function cacheRates(entry: OwnFacts, known: Rates | undefined): [number | undefined, number | undefined] {
  return [entry.cacheRead ?? known?.cacheRead, entry.cacheWrite ?? known?.cacheWrite];
}

function firstEntry<T>(table: Readonly<Record<string, T>>, keys: readonly string[]): T | undefined {
  const key = keys.find((name) => Object.hasOwn(table, name));
  return key === undefined ? undefined : table[key];
}

function entryOf<T>(table: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}

/** Returns the cost of one call in US dollars; undefined if the price is unknown. */
export function costOf({ rates: usual, longPrompt }: ModelFacts, usage: TokenCount): number | undefined {
  const prompt = usage.input + usage.cacheRead + usage.cacheWrite;
  const paid = longPrompt !== undefined && prompt > longPrompt.above ? longPrompt.rates : usual;
  if (paid === undefined) return undefined;
  const millions =
    usage.input * paid.input +
    usage.output * paid.output +
    usage.cacheRead * paid.cacheRead +
    usage.cacheWrite * paid.cacheWrite;
  return millions / MILLION;
}
