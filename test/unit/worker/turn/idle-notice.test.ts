import { describe, expect, it } from "vitest";
import {
  idleNoticeFields,
  isWorthNotice,
  type TurnSummary,
  WorkSinceIdle,
} from "../../../../src/worker/turn/idle-notice.ts";

const turn = (fields: Partial<TurnSummary> = {}): TurnSummary => ({
  outcome: "completed",
  toolCalls: 0,
  text: "",
  ...fields,
});

describe("isWorthNotice", () => {
  it.each<[string, TurnSummary, string | undefined, boolean]>([
    ["yes, if a tool was called", turn({ toolCalls: 1 }), undefined, true],
    [
      "yes, if a tool was called and the same text was repeated",
      turn({ toolCalls: 1, text: "done" }),
      "done",
      true,
    ],
    ["yes, if the turn had a text", turn({ text: "hello" }), undefined, true],
    ["yes, if the text differs from the last notice", turn({ text: "hello" }), "done", true],
    ["yes, for a first turn, even without text", turn(), undefined, true],
    ["no, without calls and text since the last notice (S32)", turn(), "done", false],
    ["no, if only the last notice was repeated (S32)", turn({ text: "thanks" }), "thanks", false],
    ["yes, if the turn failed", turn({ outcome: "failed", failure: "no key" }), undefined, true],
    ["no, if it failed as before", turn({ outcome: "failed", failure: "no key" }), "no key", false],
    [
      "yes, if it failed as before after a call",
      turn({ outcome: "failed", failure: "no key", toolCalls: 1 }),
      "no key",
      true,
    ],
    ["yes, if it failed in another way", turn({ outcome: "failed", failure: "429" }), "no key", true],
  ])("%s", (_title, summary, last, expected) => {
    expect(isWorthNotice(summary, last)).toBe(expected);
  });
});

describe("idleNoticeFields", () => {
  it.each([
    ["completed", "available"],
    ["interrupted", "interrupted"],
    ["failed", "failed"],
  ] as const)("of a turn that %s gives the reason %s", (outcome, idleReason) => {
    expect(idleNoticeFields(turn({ outcome }))).toEqual({ idleReason, toolCalls: 0 });
  });

  it("contains the last text, the failure, the summary of the last message and the completed task", () => {
    const summary = turn({ outcome: "failed", text: "I tried", failure: "no key", toolCalls: 2 });
    expect(idleNoticeFields(summary, { peerSummary: "[to ada] found it", completedTaskId: "3" })).toEqual({
      idleReason: "failed",
      summary: "[to ada] found it",
      result: "I tried",
      failureReason: "no key",
      completedTaskId: "3",
      completedStatus: "success",
      toolCalls: 2,
    });
  });

  it("contains a long text in full, and cuts a long failure", () => {
    const text = "x".repeat(20_000);
    const { result, failureReason } = idleNoticeFields(turn({ text, failure: text }));
    expect([result, failureReason]).toEqual([text, `${"x".repeat(4_000)}… (16000 more characters)`]);
  });
});

describe("WorkSinceIdle over several turns", () => {
  const workOf = (...turns: readonly TurnSummary[]) => {
    const work = new WorkSinceIdle();
    for (const one of turns) work.addTurn(one);
    return work;
  };
  const failed = turn({ outcome: "failed", failure: "no key", toolCalls: 1 });

  it("sums up the tool calls and keeps the last text", () => {
    const work = workOf(turn({ toolCalls: 2, text: "I begin" }), turn({ toolCalls: 1 }));
    expect(work.takeNotice()).toEqual({ idleReason: "available", result: "I begin", toolCalls: 3 });
    expect(work.takeNotice()).toBeUndefined();
  });

  it("reports a failure even if later turns completed", () => {
    expect(workOf(failed, turn({ text: "ok" })).takeNotice()).toEqual({
      idleReason: "failed",
      failureReason: "no key",
      result: "ok",
      toolCalls: 1,
    });
  });

  it("names the task in progress as failed only after a failure", () => {
    const work = workOf(failed);
    work.addCompletedTask("3");
    expect(work.takeNotice("4")).toMatchObject({ completedTaskId: "4", completedStatus: "failed" });
    work.addCompletedTask("3");
    work.addTurn(turn({ text: "ok" }));
    expect(work.takeNotice("4")).toMatchObject({ completedTaskId: "3", completedStatus: "success" });
    work.addTurn(turn({ text: "more" }));
    expect(work.takeNotice("4")).not.toHaveProperty("completedTaskId");
  });

  it("reports the last interrupt, and each failure only once", () => {
    const work = workOf(failed, turn({ outcome: "interrupted" }));
    expect(work.takeNotice()).toMatchObject({ idleReason: "interrupted", failureReason: "no key" });
    work.addTurn(turn({ text: "ok" }));
    expect(work.takeNotice()).toEqual({ idleReason: "available", result: "ok", toolCalls: 0 });
  });
});
