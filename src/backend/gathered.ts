/**
 * Work of which one round is done at a time: what is asked for while one is under way waits, and is done together in the
 * next. Each caller hears how its own round went.
 * @param kind what may be done together; rounds of different kinds do not wait for each other
 */
export function gathered<Item, How, Result>(
  work: (items: readonly Item[], how: How) => Promise<Result>,
  kind: (items: readonly Item[], how: How) => string,
): (items: readonly Item[], how: How) => Promise<Result> {
  const underWay = new Map<string, Promise<void>>();
  const waiting = new Map<string, { readonly items: Item[]; readonly result: Promise<Result> }>();

  const begin = (key: string, round: () => Promise<Result>): Promise<Result> => {
    const result = round();
    const over = (): void => {
      if (underWay.get(key) === ended) underWay.delete(key);
    };
    const ended: Promise<void> = result.then(over, over);
    underWay.set(key, ended);
    return result;
  };

  return (items, how) => {
    const key = kind(items, how);
    const next = waiting.get(key);
    if (next !== undefined) {
      next.items.push(...items);
      return next.result;
    }
    const before = underWay.get(key);
    if (before === undefined) return begin(key, () => work(items, how));
    const together = [...items];
    const result = begin(key, async () => {
      await before;
      waiting.delete(key);
      return work(together, how);
    });
    waiting.set(key, { items: together, result });
    return result;
  };
}
