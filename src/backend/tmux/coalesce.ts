interface Coalesced<Item, How, Result> {
  enqueue(items: readonly Item[], how: How): Promise<Result>;
  /** Announces items: the next round waits for them. @returns a function to call once they are enqueued, or will not come */
  announce(): () => void;
}

/**
 * Batches work: only one round of a kind runs at a time. Items that arrive during a round form the next round, which also waits for
 * items announced by then. Each caller gets the result or the error of the round with its items.
 * @param kind key of the items that may share a round; rounds of different kinds do not wait for each other
 */
export function coalesce<Item, How, Result>(
  work: (items: readonly Item[], how: How) => Promise<Result>,
  kind: (items: readonly Item[], how: How) => string,
): Coalesced<Item, How, Result> {
  const running = new Map<string, Promise<void>>();
  const waiting = new Map<string, { readonly items: Item[]; readonly result: Promise<Result> }>();

  const announced = new Set<Promise<void>>();

  const begin = (key: string, round: () => Promise<Result>): Promise<Result> => {
    const result = round();
    const finish = (): void => {
      if (running.get(key) === ended) running.delete(key);
    };
    const ended: Promise<void> = result.then(finish, finish);
    running.set(key, ended);
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
      const before = running.get(key);
      if (before === undefined && announced.size === 0) return begin(key, () => work(items, how));
      const together = [...items];
      const others = [...announced];
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
      announced.add(promise);
      return () => {
        announced.delete(promise);
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
