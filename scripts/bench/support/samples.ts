/** Durations in milliseconds, shortest first. */
export class Samples {
  readonly #sorted: readonly number[];

  constructor(times: readonly number[]) {
    this.#sorted = times.toSorted((a, b) => a - b);
  }

  get median(): number {
    return this.at(0.5);
  }

  /** Returns the time within which this share of the samples finished. */
  at(share: number): number {
    return (
      this.#sorted[Math.min(this.#sorted.length - 1, Math.floor(share * this.#sorted.length))] ?? Number.NaN
    );
  }
}

/** Repeats the work this many times, one after the other. */
export async function sample(times: number, work: (turn: number) => unknown): Promise<Samples> {
  const took: number[] = [];
  for (let turn = 0; turn < times; turn += 1) took.push(await timeOf(() => work(turn)));
  return new Samples(took);
}

export async function timeOf(work: () => unknown): Promise<number> {
  const begin = performance.now();
  await work();
  return performance.now() - begin;
}

/**
 * Repeats several pieces of work in turn, A B A B …, so that a machine with a drifting speed treats them alike.
 * @returns the samples of each
 */
export async function sampleInTurn(
  times: number,
  works: readonly (() => Promise<number>)[],
): Promise<readonly Samples[]> {
  const took = works.map((): number[] => []);
  for (let turn = 0; turn < times; turn += 1) {
    for (const [index, work] of works.entries()) took[index]?.push(await work());
  }
  return took.map((times) => new Samples(times));
}
