import { expect, it } from "vitest";
import type { ChannelTurnEnd } from "../../../../src/adapter/channel.ts";
import { HttpTurn } from "../../../../src/adapter/http/http-turn.ts";
import { eventually } from "../../../support/timing/eventually.ts";

const OVERLOADED = { name: "APIError", data: { message: "it is overloaded" } };

interface Reported {
  readonly turn: HttpTurn;
  readonly ends: readonly ChannelTurnEnd[];
  /** Returns how often the running turn was aborted. */
  aborts(): number;
  /** Reports the state of the session. */
  status(type: "busy" | "idle"): void;
}

/** Returns the turns of a session, and their reported ends. @param beginMs time limit in milliseconds for its next turn to begin */
function session(beginMs?: number): Reported {
  const ends: ChannelTurnEnd[] = [];
  const none = (): void => undefined;
  const events = {
    ...{ turnStarted: none, text: none, toolStarted: none, toolEnded: none, spent: none },
    turnEnded: (end: ChannelTurnEnd) => void ends.push(end),
  };
  let aborts = 0;
  const abort = (): void => {
    aborts += 1;
  };
  const turn = new HttpTurn("s", events, abort, beginMs);
  return {
    turn,
    ends,
    aborts: () => aborts,
    status: (type) => turn.event("session.status", { sessionID: "s", status: { type } }),
  };
}

it("HttpTurn › does not end the turn of a text when the turn before it ends late", async () => {
  const { turn, ends, status } = session();
  status("busy");
  turn.interrupted();
  const taken = turn.begin();
  turn.event("session.error", { sessionID: "s", error: { name: "MessageAbortedError" } });
  status("idle");
  turn.event("session.idle", { sessionID: "s" });
  expect(ends).toEqual([]);
  expect(turn.isRunning).toBe(true);
  status("busy");
  await taken;
  status("idle");
  expect(ends).toEqual([{ outcome: "completed" }]);
});

it("HttpTurn › aborts the turn of a text that was interrupted before the turn began", async () => {
  const { turn, ends, aborts, status } = session();
  const taken = turn.begin();
  turn.interrupted();
  expect(aborts()).toBe(0);
  status("busy");
  await taken;
  expect(aborts()).toBe(1);
  turn.event("session.error", { sessionID: "s", error: { name: "MessageAbortedError" } });
  status("idle");
  expect(ends).toEqual([{ outcome: "interrupted" }]);
});

it.each(["before", "after"])(
  "HttpTurn › reports the end of a turn that came %s the refusal of a text",
  async (when) => {
    const { turn, ends, status } = session(1);
    status("busy");
    void turn.begin();
    turn.event("session.error", { sessionID: "s", error: OVERLOADED });
    if (when === "before") status("idle");
    turn.forget();
    if (when === "after") status("idle");
    await eventually("the end of the turn", () => ends.length > 0);
    expect(ends).toEqual([{ outcome: "failed", failure: "it is overloaded" }]);
  },
);

it("HttpTurn › does not fail a text when the previous turn fails", async () => {
  const { turn, ends, status } = session();
  status("busy");
  const taken = turn.begin();
  turn.event("session.error", { sessionID: "s", error: OVERLOADED });
  expect([ends, turn.isRunning]).toEqual([[], true]);
  status("idle");
  status("busy");
  await taken;
  status("idle");
  expect(ends).toEqual([{ outcome: "completed" }]);
});

it.each([
  { end: { outcome: "completed" }, error: undefined },
  { end: { outcome: "interrupted" }, error: { name: "MessageAbortedError" } },
  { end: { outcome: "failed", failure: "it is overloaded" }, error: OVERLOADED },
])("HttpTurn › reports $end.outcome for a text that was added to a running turn", async ({ end, error }) => {
  const { turn, ends, status } = session(1);
  status("busy");
  const taken = turn.begin();
  if (error !== undefined) turn.event("session.error", { sessionID: "s", error });
  status("idle");
  await taken;
  expect(ends).toEqual([end]);
});
