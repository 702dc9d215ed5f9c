import { expect, it } from "vitest";
import { deliverText } from "../../../../src/adapter/turns/deliver-text.ts";
import { OpenTurn } from "../../../../src/adapter/turns/open-turn.ts";

const done = async (): Promise<void> => undefined;

/** Delivers a text to a CLI that does not take it. @param isInterrupted whether its turn is interrupted meanwhile */
function refused(turn: OpenTurn, isInterrupted: boolean): Promise<boolean> {
  const interrupt = new AbortController();
  const channel = {
    async deliver() {
      if (isInterrupted) interrupt.abort();
      throw new Error("it is busy");
    },
  };
  const delivery = { turn, text: "hello", isLast: false, signal: interrupt.signal };
  const limits = { wait: done, met: done, passed: done };
  return deliverText(channel, delivery, { cli: "fake", beforeTurn: async () => "go", limits });
}

it("deliverText › ends the turn as interrupted when an interrupt keeps the text from the CLI", async () => {
  const turn = new OpenTurn(() => undefined);
  expect(await refused(turn, true)).toBe(false);
  expect(await turn.result).toMatchObject({
    outcome: "interrupted",
    failure: "fake did not take the message: it is busy",
  });
});

it("deliverText › ends the turn as failed when the CLI does not take the text", async () => {
  const turn = new OpenTurn(() => undefined);
  expect(await refused(turn, false)).toBe(false);
  expect(await turn.result).toMatchObject({
    outcome: "failed",
    failure: "fake did not take the message: it is busy",
  });
});
