/** Tokens that a model has read and written. */
export interface TokenCount {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}
export const NO_TOKENS: TokenCount = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

export function addTokens(a: TokenCount, b: TokenCount): TokenCount {
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
  };
}

/** Returns the difference of two counts, for each kind of token. */
export function tokensSince(now: TokenCount, before: TokenCount): TokenCount {
  const more = (kind: keyof TokenCount): number => Math.max(0, now[kind] - before[kind]);
  return {
    input: more("input"),
    output: more("output"),
    cacheRead: more("cacheRead"),
    cacheWrite: more("cacheWrite"),
  };
}

/** Returns the sum of all kinds: for one model call, the size of the conversation including the answer. */
export function sumOf({ input, output, cacheRead, cacheWrite }: TokenCount): number {
  return input + output + cacheRead + cacheWrite;
}
