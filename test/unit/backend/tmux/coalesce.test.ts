import { describe, expect, it } from "vitest";
import { coalesce } from "../../../../src/backend/tmux/coalesce.ts";

/** Rounds of work that end when the test ends them. */
function rounds() {
  const begun: { items: readonly string[]; end: (error?: Error) => void }[] = [];
  const work = coalesce(
    (items: readonly string[], how: string) =>
      new Promise<string>((resolve, reject) => {
        begun.push({
          items,
          end: (error) => (error === undefined ? resolve(items.join("+")) : reject(error)),
        });
        void how;
      }),
    (_, how) => how,
  );
  const { announce } = work;
  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  return { begun, work: work.enqueue, announce, settled };
}

describe("coalesce", () => {
  it("starts at once and batches the calls that arrive during a round", async () => {
    const { begun, work, settled } = rounds();
    const first = work(["a"], "x");
    const others = [work(["b"], "x"), work(["c", "d"], "x")];
    expect(begun.map(({ items }) => items)).toEqual([["a"]]);
    begun[0]?.end();
    expect(await first).toBe("a");
    await settled();
    const last = work(["e"], "x");
    expect(begun.map(({ items }) => items)).toEqual([["a"], ["b", "c", "d"]]);
    begun[1]?.end();
    expect(await Promise.all(others)).toEqual(["b+c+d", "b+c+d"]);
    await settled();
    begun[2]?.end();
    expect(await last).toBe("e");
  });

  it("continues after a failed round, whose error only its own callers get", async () => {
    const { begun, work, settled } = rounds();
    const first = work(["a"], "x");
    const second = work(["b"], "x");
    begun[0]?.end(new Error("no"));
    await expect(first).rejects.toThrow("no");
    await settled();
    begun[1]?.end();
    expect(await second).toBe("b");
  });

  it("waits for the calls that were announced before it, until each is made or withdrawn", async () => {
    const { begun, work, announce, settled } = rounds();
    const [one, two, three] = [announce(), announce(), announce()];
    const first = work(["a"], "x");
    one();
    const late = announce();
    await settled();
    expect(begun).toEqual([]);
    const second = work(["b"], "x");
    two();
    await settled();
    expect(begun).toEqual([]);
    three();
    three();
    await settled();
    expect(begun.map(({ items }) => items)).toEqual([["a", "b"]]);
    begun[0]?.end();
    expect(await Promise.all([first, second])).toEqual(["a+b", "a+b"]);
    late();
  });

  it("does not wait for work of another kind", () => {
    const { begun, work } = rounds();
    void work(["a"], "x");
    void work(["b"], "y");
    expect(begun.map(({ items }) => items)).toEqual([["a"], ["b"]]);
  });
});
