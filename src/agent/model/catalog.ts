import type { TokenCount } from "../../schema/tokens.ts";

/** US dollars for a million tokens. */
interface Rates {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

/** What is known of a model before it is called. */
export interface ModelFacts {
  /** Tokens of one request with its answer. */
  readonly window?: number;
  /** Without them nobody knows what a call costs. */
  readonly rates?: Rates;
  /** A request whose prompt is longer is paid at other rates, all of it. */
  readonly longPrompt?: { readonly above: number; readonly rates: Rates };
}

/** What a user's settings say of a model (`teams.prices`); what is left out stays as it is here. */
export interface OwnFacts {
  readonly input?: number | undefined;
  readonly output?: number | undefined;
  readonly cacheRead?: number | undefined;
  readonly cacheWrite?: number | undefined;
  readonly window?: number | undefined;
}

/** Share of a prompt's price that reading and writing the cache costs where nothing else is said. */
const CACHE_READ = 0.1;
const CACHE_WRITE = 1.25;

/** Tokens of a window where nobody says: that of the smallest model here. A server with less says so itself. */
export const USUAL_WINDOW = 200_000;
const MILLION = 1_000_000;

/**
 * Every price and window that this program knows, of platform.claude.com (models, pricing) on 22 November 2026; the
 * cache is written for five minutes. `teams.prices` of the settings goes before it.
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
 * What is known of a model by the id that its server knows, with or without a date behind it.
 * @param own the user's word, by id or by the short name that stands for it
 */
export function modelFacts(
  id: string,
  own: Readonly<Record<string, OwnFacts>> = {},
  shortName = id,
): ModelFacts {
  const undated = id.replace(/-\d{8}$/, "");
  const known = entryOf(MODELS, id) ?? entryOf(MODELS, undated) ?? {};
  const said = entryOf(own, id) ?? entryOf(own, undated) ?? entryOf(own, shortName);
  if (said === undefined) return known;
  const { input = known.rates?.input, output = known.rates?.output } = said;
  const window = said.window ?? known.window;
  const isPriced = said.input !== undefined || said.output !== undefined;
  return {
    ...(window === undefined ? {} : { window }),
    ...(input === undefined || output === undefined
      ? {}
      : { rates: rates(input, output, ...cacheRates(said, isPriced ? undefined : known.rates)) }),
    // Prices that somebody gave hold for every length.
    ...(isPriced || known.longPrompt === undefined ? {} : { longPrompt: known.longPrompt }),
  };
}

function cacheRates(said: OwnFacts, known: Rates | undefined): [number | undefined, number | undefined] {
  return [said.cacheRead ?? known?.cacheRead, said.cacheWrite ?? known?.cacheWrite];
}

function entryOf<T>(table: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}

/** What one call costs, in US dollars; undefined where its price is not known. */
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
