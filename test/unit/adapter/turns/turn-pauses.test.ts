import { expect, it } from "vitest";
import { OpenTurn } from "../../../../src/adapter/turns/open-turn.ts";
import { TurnPauses } from "../../../../src/adapter/turns/turn-pauses.ts";
import { eventually } from "../../../support/timing/eventually.ts";

const INTERRUPTED = { outcome: "interrupted" } as const;

function openTurn(): OpenTurn {
  return new OpenTurn(() => undefined);
}

const done = async (): Promise<void> => undefined;

/** The pauses of an agent whose budget is used up. */
function pausesOf({
  interrupt = async () => undefined,
  beforeTurn = async () => "go",
  deliver = done,
}: {
  readonly interrupt?: () => Promise<void>;
  readonly deliver?: () => Promise<void>;
  readonly beforeTurn?: () => Promise<"go" | "stop">;
}): TurnPauses {
  const options = {
    ...{ cli: "codex", note: () => undefined, limits: { wait: done, met: done, passed: done } },
    ...{ beforeTurn, exceedsBudget: async () => true },
  };
  return new TurnPauses(options, () => ({ interrupt, deliver }));
}

it("TurnPauses › interrupts a later turn even if the interrupt of an earlier turn was never answered", async () => {
  let interrupts = 0;
  const pauses = pausesOf({
    interrupt() {
      interrupts += 1;
      return new Promise(() => undefined);
    },
  });
  const [first, second] = [openTurn(), openTurn()];
  const checked = pauses.spent(first);
  await eventually("the interrupt of the first turn", () => interrupts === 1);
  first.settle(INTERRUPTED);
  await checked;
  const checkedAgain = pauses.spent(second);
  await eventually("the interrupt of the second turn", () => interrupts === 2);
  second.settle(INTERRUPTED);
  await checkedAgain;
});

it("TurnPauses › does not pause a later turn while an earlier turn is still waiting for budget", async () => {
  let go: () => void = () => undefined;
  const budget = new Promise<"go">((resolve) => {
    go = () => resolve("go");
  });
  const pauses = pausesOf({ beforeTurn: () => budget });
  const [first, second] = [openTurn(), openTurn()];
  await pauses.spent(first);
  expect(pauses.takes(INTERRUPTED, first)).toBe(true);
  expect(pauses.isWaiting(first)).toBe(true);
  first.settle(INTERRUPTED);
  expect(pauses.isWaiting(second)).toBe(false);
  expect(pauses.takes(INTERRUPTED, second)).toBe(false);
  go();
});

it.each([
  { outcome: "failed", when: "the CLI does not take its next text", isInterrupted: false },
  { outcome: "interrupted", when: "an interrupt keeps its next text from the CLI", isInterrupted: true },
])("TurnPauses › ends the turn as $outcome when $when", async ({ outcome, isInterrupted }) => {
  let deliveries = 0;
  let refuse: (error: Error) => void = () => undefined;
  const pauses = pausesOf({
    deliver() {
      deliveries += 1;
      return new Promise((_, reject) => {
        refuse = reject;
      });
    },
  });
  const turn = openTurn();
  await pauses.spent(turn);
  expect(pauses.takes(INTERRUPTED, turn)).toBe(true);
  await eventually("its next text", () => deliveries === 1);
  if (isInterrupted) pauses.cancel();
  refuse(new Error("not taken"));
  expect(await turn.result).toMatchObject({ outcome, failure: expect.stringContaining("not taken") });
});
