import { expect, it } from "vitest";
import { GeminiTurns } from "../../../../src/adapter/hooks/gemini-turns.ts";

const NEVER = new AbortController().signal;

function turnsOfGemini(): GeminiTurns {
  const none = (): void => undefined;
  return new GeminiTurns({ events: { turnStarted: none, turnEnded: none, text: none }, closed: none });
}

it("GeminiTurns › passes the next text to the hook at the end of a turn", async () => {
  const turns = turnsOfGemini();
  turns.began("hi");
  const next = turns.onTurnEnd("done", NEVER);
  const taken = turns.expect("a message");
  expect([await next, turns.isRunning]).toEqual(["a message", true]);
  turns.began("a message");
  await taken;
});

it.each(["before", "while"])(
  "GeminiTurns › passes no text to a hook that has ended %s it waits for one",
  async (when) => {
    const turns = turnsOfGemini();
    const hook = new AbortController();
    turns.began("hi");
    if (when === "before") hook.abort();
    const next = turns.onTurnEnd("done", hook.signal);
    hook.abort();
    const taken = turns.expect("a message");
    expect([await next, turns.isIdle]).toEqual([undefined, true]);
    await turns.whenIdle;
    turns.began("a message");
    await taken;
  },
);
