import { expect, it } from "vitest";
import type { ChannelAgentOptions } from "../../../../src/adapter/channel-agent-options.ts";
import { deliverText } from "../../../../src/adapter/turns/deliver-text.ts";
import { OpenTurn } from "../../../../src/adapter/turns/open-turn.ts";
import { eventually } from "../../../support/timing/eventually.ts";

const done = async (): Promise<void> => undefined;
const OPTIONS: Pick<ChannelAgentOptions, "cli" | "beforeTurn" | "limits"> = {
  cli: "fake",
  beforeTurn: async () => "go",
  limits: { wait: done, met: done, passed: done },
};

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
  return deliverText(channel, delivery, { ...OPTIONS, hidesTurnEnds: false });
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

it.each([true, false])(
  "deliverText › reports whether its text was typed when the program has ended: %s",
  async (isTyped) => {
    const turn = new OpenTurn(() => undefined);
    let report: (() => void) | undefined;
    const channel = {
      deliver: () =>
        new Promise<void>((resolve, reject) => {
          report = isTyped ? resolve : () => reject(new Error("nothing was typed"));
        }),
    };
    const delivery = { turn, text: "hello", isLast: false, signal: new AbortController().signal };
    const isTaken = deliverText(channel, delivery, { ...OPTIONS, hidesTurnEnds: true });
    await eventually("the delivery", () => report !== undefined);
    turn.settle({ outcome: "interrupted" });
    await turn.result;
    report?.();
    expect(await isTaken).toBe(isTyped);
  },
);
