import { describe, expect, it } from "vitest";
import {
  MAX_NOTICE_RESULT,
  noticeOf,
  type TurnSummary,
  WorkSinceIdle,
  worthNotice,
} from "../../../../src/worker/turn/idle-notice.ts";

const turn = (fields: Partial<TurnSummary> = {}): TurnSummary => ({
  outcome: "completed",
  toolCalls: 0,
  text: "",
  ...fields,
});

describe("a turn's end is told to the lead", () => {
  it.each<[string, TurnSummary, string | undefined, boolean]>([
    ["when a tool was called", turn({ toolCalls: 1 }), undefined, true],
    ["when a tool was called and the same was said", turn({ toolCalls: 1, text: "done" }), "done", true],
    ["when something was said", turn({ text: "hello" }), undefined, true],
    ["when something else was said than last time", turn({ text: "hello" }), "done", true],
    ["when it is the first, also of one that said nothing", turn(), undefined, true],
    ["not when nothing was done or said since the last notice (S32)", turn(), "done", false],
    ["not when only the last notice was said again (S32)", turn({ text: "thanks" }), "thanks", false],
    ["when it failed", turn({ outcome: "failed", failure: "no key" }), undefined, true],
    ["not when it failed as before", turn({ outcome: "failed", failure: "no key" }), "no key", false],
    [
      "when it failed as before, behind a call",
      turn({ outcome: "failed", failure: "no key", toolCalls: 1 }),
      "no key",
      true,
    ],
    ["when it failed in another way", turn({ outcome: "failed", failure: "429" }), "no key", true],
  ])("%s", (_title, summary, last, told) => {
    expect(worthNotice(summary, last)).toBe(told);
  });
});

describe("an idle notice", () => {
  it.each([
    ["completed", "available"],
    ["interrupted", "interrupted"],
    ["failed", "failed"],
  ] as const)("of a turn that %s says %s", (outcome, idleReason) => {
    expect(noticeOf(turn({ outcome }))).toEqual({ idleReason, toolCalls: 0 });
  });

  it("carries the last words, why it failed, and what was last written to a peer, and the task that was completed", () => {
    const summary = turn({ outcome: "failed", text: "I tried", failure: "no key", toolCalls: 2 });
    expect(noticeOf(summary, { peerSummary: "[to ada] found it", completedTaskId: "3" })).toEqual({
      idleReason: "failed",
      summary: "[to ada] found it",
      result: "I tried",
      failureReason: "no key",
      completedTaskId: "3",
      completedStatus: "success",
      toolCalls: 2,
    });
  });

  it("is cut where a long text would fill the lead's context", () => {
    const { result } = noticeOf(turn({ text: "x".repeat(MAX_NOTICE_RESULT + 1) }));
    expect(result).toBe(`${"x".repeat(MAX_NOTICE_RESULT)}…`);
  });
});

describe("several turns before one rest", () => {
  const workOf = (...turns: readonly TurnSummary[]) => {
    const work = new WorkSinceIdle();
    for (const one of turns) work.add(one);
    return work;
  };
  const failed = turn({ outcome: "failed", failure: "no key", toolCalls: 1 });

  it("are one notice of all that was done and the last that was said", () => {
    const work = workOf(turn({ toolCalls: 2, text: "I begin" }), turn({ toolCalls: 1 }));
    expect(work.notice()).toEqual({ idleReason: "available", result: "I begin", toolCalls: 3 });
    expect(work.notice()).toBeUndefined();
  });

  it("tell of a failure that others stand behind", () => {
    expect(workOf(failed, turn({ text: "ok" })).notice()).toEqual({
      idleReason: "failed",
      failureReason: "no key",
      result: "ok",
      toolCalls: 1,
    });
  });

  it("tell of the interrupt that was last, and of no failure twice", () => {
    const work = workOf(failed, turn({ outcome: "interrupted" }));
    expect(work.notice()).toMatchObject({ idleReason: "interrupted", failureReason: "no key" });
    work.add(turn({ text: "ok" }));
    expect(work.notice()).toEqual({ idleReason: "available", result: "ok", toolCalls: 0 });
  });
});
