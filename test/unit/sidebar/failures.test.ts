import { expect, test } from "vitest";
import type { SidebarData, SidebarMember, SidebarTask } from "../../../src/sidebar/data.ts";
import { newFailures, withFailures } from "../../../src/sidebar/failures.ts";
import { type SidebarState, START } from "../../../src/sidebar/state.ts";
import { press } from "../../../src/sidebar/step.ts";
import { frame } from "../../../src/sidebar/view-model.ts";
import { member, task } from "../../support/sidebar/sidebar-data.ts";

function team(members: readonly SidebarMember[], list: readonly SidebarTask[] = []): SidebarData {
  return { status: { team: "crew", members, tasks: { list }, approvals: [] }, messages: [] };
}

test("newFailures › returns the turns and checks that have failed since the previous read", () => {
  const before = team(
    [member("ada", { state: "running" }), member("ben", { state: "failed" }), member("cid")],
    [task(1, "Build it", { shown: "running" }), task(2, "Test it", { shown: "failed" })],
  );
  const failed = { state: "failed", activity: "503 overloaded" } as const;
  const after = team(
    [member("ada", failed), member("ben", failed), member("cid", { state: "crashed" })],
    [task(1, "Build it", { shown: "failed" }), task(2, "Test it", { shown: "failed" })],
  );
  expect(newFailures(before, after)).toEqual([
    "ada failed: 503 overloaded",
    "the verify command of #1 failed: Build it",
  ]);
  expect([newFailures(undefined, after), newFailures(after, after)]).toEqual([[], []]);
});

test("newFailures › returns the failed turns that new messages report, once if the state shows them", () => {
  const failed = (from: string, idleReason = "failed") => {
    const notice = { type: "idle_notification", from, idleReason, failureReason: "503 overloaded" };
    return { from, to: "team-lead", text: JSON.stringify(notice), at: 1 };
  };
  const members = [member("ada"), member("ben", { state: "failed", activity: "no credit" }), member("cid")];
  const before = { ...team([member("ada"), member("ben"), member("cid")]), messages: [failed("cid")] };
  const messages = [...before.messages, failed("ada"), failed("ben"), failed("cid", "interrupted")];
  expect(newFailures(before, { ...team(members), messages })).toEqual([
    "ben failed: no credit",
    "ada failed: 503 overloaded",
  ]);
});

test("failures › stay above the footer until Esc: the last three, each once, and one in a low sidebar", () => {
  const data = team([member("ada")]);
  const shown = (state: SidebarState, height: number): readonly string[] =>
    frame(data, state, { width: 40, height })
      .map(({ spans }) => spans.map(({ text }) => text).join(""))
      .map((row) => row.trimEnd())
      .filter((row) => row.startsWith(" ✗ "));
  const failures = ["one", "two", "two", "three", "fo\u001b[2Jur"];
  const state = failures.reduce((last, text) => withFailures(last, [text]), START);
  expect(shown(state, 24)).toEqual([" ✗ two", " ✗ three", " ✗ four"]);
  expect(shown(state, 12)).toEqual([" ✗ four"]);
  expect(shown(press(state, "down", data).state, 12)).toEqual([" ✗ four"]);
  expect(shown(press(state, "back", data).state, 24)).toEqual([]);
});
