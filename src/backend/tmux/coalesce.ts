export interface Coalesced<Item, How, Result> {
  enqueue(items: readonly Item[], how: How): Promise<Result>;
  /** Says that somebody is about to come with items. @returns to be called once they have come, or come no more */
  announce(): () => void;
}

/**
 * Work of which one round is done at a time: what is asked for while one is under way waits, and is done together in the
 * next, with what was expected by then. Each caller hears how its own round went.
 * @param kind what may be done together; rounds of different kinds do not wait for each other
 */
export function coalesce<Item, How, Result>(
  work: (items: readonly Item[], how: How) => Promise<Result>,
  kind: (items: readonly Item[], how: How) => string,
): Coalesced<Item, How, Result> {
  const underWay = new Map<string, Promise<void>>();
  const waiting = new Map<string, { readonly items: Item[]; readonly result: Promise<Result> }>();

  const expected = new Set<Promise<void>>();

  const begin = (key: string, round: () => Promise<Result>): Promise<Result> => {
    const result = round();
    const over = (): void => {
      if (underWay.get(key) === ended) underWay.delete(key);
    };
    const ended: Promise<void> = result.then(over, over);
    underWay.set(key, ended);
    return result;
  };

  return {
    enqueue(items, how) {
      const key = kind(items, how);
      const next = waiting.get(key);
      if (next !== undefined) {
        next.items.push(...items);
        return next.result;
      }
      const before = underWay.get(key);
      if (before === undefined && expected.size === 0) return begin(key, () => work(items, how));
      const together = [...items];
      const others = [...expected];
      const result = begin(key, async () => {
        await Promise.all([before, ...others]);
        waiting.delete(key);
        return work(together, how);
      });
      waiting.set(key, { items: together, result });
      return result;
    },
    announce() {
      const { promise, resolve } = settleable();
      expected.add(promise);
      return () => {
        expected.delete(promise);
        resolve();
      };
    },
  };
}

function settleable(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
